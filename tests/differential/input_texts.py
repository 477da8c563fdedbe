"""Texts of the input files of compared runs."""

TEXTS = {
    "a.txt": "pear\napple\nfig\napple pie\n",
    "b.txt": "quince\nbanana\n",
    "c.txt": "",
    "d-4_x.txt": "zebra\nan apple a day\nécole\n",
    "e.txt": "".join(f"line {number}\n" for number in range(500)),
    "f.txt": "apple",
}
