// A shared view: charts are drawn, redrawn when a part is swapped in; nothing is changed and nothing else is reachable.
import { start } from "./charts.js";

start?.();
