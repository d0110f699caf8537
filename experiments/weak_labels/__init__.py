"""Labels of other forms than one certain class: coarse labels, votes of raters, and the labels that are asked for."""
