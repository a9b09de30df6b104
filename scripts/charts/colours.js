// The colours that CSS knows, in place of all that culori knows.
import "culori/css";
export { converter, formatHex, formatRgb, wcagContrast, wcagLuminance } from "culori/fn";
