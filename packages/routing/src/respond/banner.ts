import { Kind } from '../guide/maneuver.ts'

/** Texts of a maneuver's banner; empty when its step has none. */
export interface BannerTexts {
  readonly name: string
  readonly ref: string
  readonly destinations: string
  readonly exits: string
  readonly instruction: string
  readonly type: string
  readonly modifier: string
  readonly kind: number
  /** Degrees around a roundabout; 180 leads straight through. */
  readonly degrees: number
  readonly drivingSide: 'left' | 'right'
}

/** The banner before a maneuver, shown from the beginning of the step, as in Valhalla 3.6. */
export function bannerInstructions(meters: number, texts: BannerTexts): object[] {
  const arrives = texts.type === 'arrive'
  const lines = arrives ? [texts.instruction] : [texts.name, texts.destinations].filter((text) => text !== '')
  const isRefAlone = lines.length === 0 && texts.ref !== ''
  const primary = lines[0] ?? (isRefAlone ? texts.ref : texts.instruction)
  const shown = arrives || isRefAlone ? { ref: '', exits: arrives ? '' : texts.exits } : texts
  const secondary = arrives ? texts.destinations : lines[1]
  return [
    {
      distanceAlongGeometry: Math.round(meters * 1000) / 1000,
      primary: {
        components: [
          ...(shown.exits === '' ? [] : [component('exit', 'Exit'), component('exit-number', shown.exits)]),
          component('text', primary),
          ...(shown.ref === '' ? [] : [component('delimiter', '/'), component('text', shown.ref)]),
        ],
        text: primary,
        type: texts.type,
        ...(texts.modifier !== '' && { modifier: texts.modifier }),
        ...(ROUNDABOUTS.has(texts.kind) && { degrees: texts.degrees, driving_side: texts.drivingSide }),
      },
      ...(secondary !== undefined &&
        secondary !== '' && { secondary: { components: [component('text', secondary)], text: secondary } }),
    },
  ]
}

const ROUNDABOUTS = new Set<number>([Kind.roundaboutEnter, Kind.roundaboutExit])

function component(type: string, text: string): object {
  return { type, text }
}
