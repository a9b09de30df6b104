// The parts of Plotly that the pages' charts are made of; `make vendor` makes one file of them.
// tests/web/test_charts.py reads this list: a chart that needs another part fails there before it is drawn without it.
const registry = require("plotly.js/src/registry");
const api = require("plotly.js/src/plot_api");

exports.version = require("plotly.js/src/version").version;
require("plotly.js/build/plotcss");
for (const [name, fn] of Object.entries(api)) {
  if (!name.startsWith("_")) exports[name] = fn;
  registry.register({ moduleType: "apiMethod", name, fn });
}
registry.register([
  require("plotly.js/src/traces/scatter"),
  require("plotly.js/src/traces/bar"),
  require("plotly.js/src/components/annotations"),
  require("plotly.js/src/components/shapes"),
  require("plotly.js/src/components/colorscale"),
  require("plotly.js/src/components/legend"),
  require("plotly.js/src/components/fx"),
  require("plotly.js/src/components/modebar"),
  require("plotly.js/src/locale-en"),
  require("plotly.js/src/locale-en-us"),
]);
