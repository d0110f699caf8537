"""Where the files of data sets come from: directories, cache, package archives, downloads."""
