"""Users' own data: arrays, tables, folders of images."""
