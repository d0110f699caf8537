"""Users' own data: arrays, tables, texts, folders of images."""
