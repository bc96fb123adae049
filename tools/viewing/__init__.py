"""Pages that show a model: one file each, with its script and style inside, nothing from elsewhere.

- `snapshots`: what the passes made of the program, pass by pass, as differences.
- `histograms`: of the weights. What lies where in memory is `passes/analysis/memory/chart.py`'s.
- `page`: the file around them. `view.js`, `view.css`: what runs and how it looks in the browser.
- `ablation`: the page of `gravure bench --ablation`: what each pass buys.
- `launches`: the page of `gravure bench --html`: layers, roofline, memory.
"""
