// What every page does: times in the zone of the browser, live parts, the search box and the palette by key.
import {showTimes} from "./times.js";
import {begin} from "./live.js";
import {edit} from "./editor.js";
import {listen} from "./keys.js";
import {tail} from "./log.js";
import {follow} from "./lines.js";
import {step} from "./changes.js";
import {offerPalette} from "./palette.js";
import {offerTicks} from "./ticks.js";

showTimes(document);
begin();
edit();
tail();
listen();
follow();
step();
offerPalette();
offerTicks();
