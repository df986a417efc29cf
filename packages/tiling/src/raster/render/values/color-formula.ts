import { formulaUnreadable } from '../errors.ts'

/** One operation on red, green and blue from 0 to 1. */
type Operation = (rgb: [number, number, number]) => void

const MAX_CHARACTERS = 300

/**
 * Reads a colour formula: `gamma {bands} {value}`, `sigmoidal {bands} {contrast} {bias}` and `saturation {proportion}`, one after
 * the other.
 *
 * Source: rio-color 2.0, operations.py.
 *
 * @throws FORMULA_UNREADABLE
 */
export function parseColorFormula(text: string): readonly Operation[] {
  if (text.length > MAX_CHARACTERS) throw formulaUnreadable({ why: `it has more than ${MAX_CHARACTERS} characters` })
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const operations: Operation[] = []
  while (words.length > 0) operations.push(nextOperation(words))
  if (operations.length === 0) throw formulaUnreadable({ why: 'it is empty' })
  return operations
}

function nextOperation(words: string[]): Operation {
  const name = words.shift()!.toLowerCase()
  if (name === 'saturation') {
    const proportion = numberOf(words.shift(), 0)
    return (rgb) => saturate(rgb, proportion)
  }
  if (name !== 'gamma' && name !== 'sigmoidal') throw formulaUnreadable({ why: `${name} is not an operation` })
  const letters = words.shift() ?? ''
  if (!/^[rgb]{1,3}$/i.test(letters)) throw formulaUnreadable({ why: `${name} wants bands such as RGB` })
  const channels = [...new Set(Array.from(letters.toLowerCase(), (letter) => 'rgb'.indexOf(letter)))]
  const [first, second] = [numberOf(words.shift(), 0), name === 'gamma' ? 0 : numberOf(words.shift(), 0)]
  if (name === 'gamma' && first === 0) throw formulaUnreadable({ why: 'gamma must be above 0' })
  const work =
    name === 'gamma'
      ? (value: number): number => value ** (1 / first)
      : (value: number) => sigmoid(value, first, second)
  return (rgb) => {
    for (const channel of channels) rgb[channel] = work(rgb[channel] as number)
  }
}

function numberOf(text: string | undefined, least: number): number {
  const value = Number(text)
  if (text !== undefined && Number.isFinite(value) && value >= least) return value
  throw formulaUnreadable({ why: `a number from ${least} is wanted in the place of ${text ?? 'the end'}` })
}

function sigmoid(value: number, contrast: number, bias: number): number {
  if (contrast === 0) return value
  const at = (x: number): number => 1 / (1 + Math.exp(contrast * (bias - x)))
  return (at(value) - at(0)) / (at(1) - at(0))
}

/** White of D65 in CIE XYZ. */
const WHITE = [0.950_47, 1, 1.088_83] as const
const EPSILON = 216 / 24_389
const KAPPA = 24_389 / 27

/** Transfer function of CIE Lab, and its inverse. */
const curve = (t: number): number => (t > EPSILON ? Math.cbrt(t) : (KAPPA * t + 16) / 116)
const back = (f: number): number => (f ** 3 > EPSILON ? f ** 3 : (116 * f - 16) / KAPPA)

/** Scales the chroma of CIE LCh. */
function saturate(rgb: [number, number, number], proportion: number): void {
  const [r, g, b] = rgb.map((value) => (value > 0.040_45 ? ((value + 0.055) / 1.055) ** 2.4 : value / 12.92)) as [
    number,
    number,
    number,
  ]
  const fx = curve((0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / WHITE[0])
  const fy = curve(0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b)
  const fz = curve((0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b) / WHITE[2])
  // Lightness stays; both chromatic differences grow with the chroma.
  const x = back(fy + (fx - fy) * proportion) * WHITE[0]
  const y = back(fy)
  const z = back(fy - (fy - fz) * proportion) * WHITE[2]
  const linear = [
    3.240_454_2 * x - 1.537_138_5 * y - 0.498_531_4 * z,
    -0.969_266 * x + 1.876_010_8 * y + 0.041_556 * z,
    0.055_643_4 * x - 0.204_025_9 * y + 1.057_225_2 * z,
  ]
  for (const [i, value] of linear.entries()) {
    const shown = value > 0.003_130_8 ? 1.055 * value ** (1 / 2.4) - 0.055 : 12.92 * value
    rgb[i] = Math.max(0, Math.min(1, shown))
  }
}

/** Applies a formula to the colours of a picture. */
export function applyColorFormula(rgba: Uint8Array, operations: readonly Operation[]): void {
  const rgb: [number, number, number] = [0, 0, 0]
  for (let i = 0; i < rgba.length; i += 4) {
    if (rgba[i + 3] === 0) continue
    for (let channel = 0; channel < 3; channel++) rgb[channel] = (rgba[i + channel] as number) / 255
    for (const operation of operations) operation(rgb)
    for (let channel = 0; channel < 3; channel++) {
      rgba[i + channel] = Math.max(0, Math.min(255, Math.round((rgb[channel] as number) * 255)))
    }
  }
}
