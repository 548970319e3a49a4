# SPDX-License-Identifier: GPL-2.0-only OR MIT
# usage: gnuplot -c plot.gnuplot TSV DIRECTORY
# Draws the table of "ptebatch bench" as NAME.svg and NAME.png: gup_fast-warm, gup_fast-cold, scan, vpfn.

tsv = ARG1
set datafile separator tab
set datafile missing "-"

# Contenders are the columns from 5 on; x is the order of a row, if it is one of these.
is(walker, layout, op) = strcol(1) eq walker && strcol(2) eq layout && strcol(4) eq op
x(walker, layout, op) = is(walker, layout, op) ? column(3) : NaN

# One look a contender, in every plot; they can be told apart without colours, too.
set style line 1 linewidth 2 linecolor rgb "#555555" pointtype 4
set style line 2 linewidth 2 linecolor rgb "#0072b2" pointtype 6
set style line 3 linewidth 2 linecolor rgb "#e69f00" pointtype 8
set style line 4 linewidth 3 linecolor rgb "#d55e00" pointtype 7
set style line 5 linewidth 2 linecolor rgb "#999999" pointtype 1 dashtype 2
set style data linespoints
set grid back linetype 1 linewidth 1 linecolor rgb "#dddddd"
set border 3 linecolor rgb "#555555"
set tics nomirror
set logscale y
set format y "%g"

# Two panels side by side, and what the lines are to the right of them.
array two[2] = ["set multiplot layout 1,2 margins 0.07,0.77,0.14,0.82 spacing 0.07", \
	"set key at screen 0.99,0.8 right top Left reverse samplen 2"]

svg(name, width) = sprintf("set output '%s/%s.svg'; set terminal svg size %d,430 font 'sans,13' background 'white'", \
	ARG2, name, width)
png(name, width) = sprintf("set output '%s/%s.png'; set terminal pngcairo size %d,430 font 'sans,10' background 'white'", \
	ARG2, name, width)
file(form, name, width) = form eq "svg" ? svg(name, width) : png(name, width)

# ---- GUP-fast over folio order ----

titles = "'per entry (Linux 6.12)' 'compare each' 'seed' 'ptebatch' 'read, write, no more'"
set xlabel "folio order"
set xrange [-0.3:9.3]
set xtics 1
do for [layout in "warm cold"] {
	in = layout eq "warm" ? "all in the caches" : "nothing in a cache, folios in random order"
	# Both panels as high, so that get and pin compare.
	set yrange [*:*]
	stats tsv using (is("gup_fast", layout, "get") ? $9 : NaN) nooutput
	low = STATS_min
	stats tsv using (is("gup_fast", layout, "pin") ? $5 : NaN) nooutput
	set yrange [low / 2:STATS_max * 2]
	do for [form in "svg png"] {
		eval(file(form, "gup_fast-".layout, 1000))
		eval(two[1])
		eval(two[2])
		set label 1 "GUP-fast, ".in at screen 0.42,0.95 center font ",15"
		set ylabel "ns/page"
		do for [op in "get pin"] {
			set title op eq "get" ? "get" : "pin"
			plot for [i = 1:5] tsv using (x("gup_fast", layout, op)):i + 4 linestyle i title word(titles, i)
			unset key
			unset label 1
			unset ylabel
		}
		unset multiplot
	}
}

# ---- the scan over length of runs ----

set logscale x 2
set xrange [0.9:600]
set xtics 1,2
set yrange [*:*]
set xlabel "entries in a run"
set ylabel "ns/page"
set title "Scan, by length of run" font ",15"
set key inside top right Right noreverse
do for [form in "svg png"] {
	eval(file(form, "scan", 640))
	plot for [i in "2 4"] tsv using (x("scan", "run", "look")):int(i) + 4 linestyle int(i) title word(titles, int(i))
}

# ---- pages that others have pinned ----

titles = "'each page (Linux 6.12)' 'node to node (6.18)' '' 'ptebatch, counted tree'"
unset logscale x
set logscale x 10
set xtics 100,10
set xrange [70:1500000]
set format "10^{%L}"
set xlabel "pinned pages in the tree"
do for [form in "svg png"] {
	eval(file(form, "vpfn", 1000))
	eval(two[1])
	eval(two[2])
	set label 1 "vpfn, one page in 8 pinned by others" at screen 0.42,0.95 center font ",15"
	set ylabel "ns/page"
	do for [layout in "narrow wide"] {
		set title (layout eq "narrow" ? "of a range of 512 pages" : "of a range over all") font ""
		plot for [i in "1 2 4"] tsv using (x("vpfn", layout, "count")):int(i) + 4 linestyle int(i) \
			title word(titles, int(i))
		unset key
		unset label 1
		unset ylabel
	}
	unset multiplot
}
