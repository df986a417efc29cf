/** Maps as documents, their MapLibre styles and their legends. */
export { breaksOf, CLASS_METHODS, type ClassMethod, type Distribution } from './classes.ts'
export { compile, type Style } from './compile.ts'
export { partsOf } from './layer-parts.ts'
export { addressed, documentOf } from './style.ts'
export { legendOf, type LegendEntry } from './legend.ts'
export { publishedOf, tablesOf } from './published.ts'
export { colorsOf, PALETTES } from './palettes.ts'
export type { Coloring, Filter, MapDocument, MapLayer, VectorLayer } from './document.ts'
