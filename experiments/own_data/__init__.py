"""own-data: the defaults on real data of five kinds, compared with what a user would try otherwise."""
