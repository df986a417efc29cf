/** Kind of a palette: sequential, diverging or categorical. */
export type PaletteKind = 'sequential' | 'diverging' | 'category'

/**
 * Palettes whose neighbours are distinguishable with red-green colour blindness. Viridis, magma and cividis are those
 * of matplotlib (CC0), the others of ColorBrewer (Cynthia Brewer, Apache 2.0), Okabe and Ito, and Paul Tol.
 */
export const PALETTES: Readonly<Record<string, { readonly kind: PaletteKind; readonly colors: readonly string[] }>> = {
  viridis: sequence('440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725'),
  cividis: sequence('00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838'),
  magma: sequence('221150 4f127b 812581 b5367a e55064 fb8761 fec287 fcfdbf'),
  blues: sequence('deebf7 c6dbef 9ecae1 6baed6 4292c6 2171b5 08519c 08306b'),
  greens: sequence('e5f5e0 c7e9c0 a1d99b 74c476 41ab5d 238b45 006d2c 00441b'),
  'yellow to red': sequence('ffffcc ffeda0 fed976 feb24c fd8d3c fc4e2a e31a1c bd0026 800026'),
  'yellow to blue': sequence('ffffd9 edf8b1 c7e9b4 7fcdbb 41b6c4 1d91c0 225ea8 253494 081d58'),
  'red to blue': diverging('67001f b2182b d6604d f4a582 fddbc7 f7f7f7 d1e5f0 92c5de 4393c3 2166ac 053061'),
  'orange to purple': diverging('7f3b08 b35806 e08214 fdb863 fee0b6 f7f7f7 d8daeb b2abd2 8073ac 542788 2d004b'),
  'brown to green': diverging('543005 8c510a bf812d dfc27d f6e8c3 f5f5f5 c7eae5 80cdc1 35978f 01665e 003c30'),
  vivid: category('0072b2 e69f00 009e73 cc79a7 56b4e9 d55e00 f0e442'),
  muted: category('cc6677 332288 ddcc77 117733 88ccee 882255 44aa99'),
}

/**
 * Colours of a palette, `#rrggbb` each: evenly from its first to its last, or the first ones where they have no order.
 *
 * @param count of a palette of categories at most its length
 */
export function colorsOf(palette: string, count: number, isReversed = false): string[] {
  const { kind, colors } = Object.hasOwn(PALETTES, palette) ? PALETTES[palette]! : PALETTES['viridis']!
  const inOrder = isReversed ? colors.toReversed() : colors
  if (kind === 'category') return inOrder.slice(0, count)
  if (count === 1) return [inOrder[inOrder.length >> 1]!]
  return Array.from({ length: count }, (_, i) => between(inOrder, (i / (count - 1)) * (inOrder.length - 1)))
}

function between(colors: readonly string[], at: number): string {
  const from = channels(colors[Math.floor(at)]!)
  const to = channels(colors[Math.ceil(at)]!)
  const share = at - Math.floor(at)
  return `#${from.map((value, i) => hex(value + (to[i]! - value) * share)).join('')}`
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}

function hex(value: number): string {
  return Math.round(value).toString(16).padStart(2, '0')
}

function sequence(colors: string) {
  return { kind: 'sequential' as const, colors: listed(colors) }
}

function diverging(colors: string) {
  return { kind: 'diverging' as const, colors: listed(colors) }
}

function category(colors: string) {
  return { kind: 'category' as const, colors: listed(colors) }
}

function listed(colors: string): string[] {
  return colors.split(' ').map((color) => `#${color}`)
}
