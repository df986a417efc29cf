import { Access } from '../../graph/attributes.ts'
import { GENERAL_KEYS, meaningOf, MODE_LAWS, type ModeLaw } from '../law.ts'
import type { Tags } from './values.ts'

/** What tags say to a mode: open, open for local access only, or closed. */
export type Verdict = 'yes' | 'local' | 'no'

/** What a value of an access key says to a mode; of a list (`yes;designated`) the part that opens it most counts. */
export function verdictOf(key: string, value: string | undefined, mode = 0): Verdict | undefined {
  if (value === undefined) return undefined
  let found: Verdict | undefined
  for (const part of value.split(';')) {
    const meaning = meaningOf(key, part.trim())
    if (meaning === undefined || meaning === 'nothing') continue
    const verdict = typeof meaning !== 'number' ? meaning : (meaning & mode) === 0 ? 'no' : 'yes'
    if (verdict === 'yes') return verdict
    if (found !== 'local') found = verdict
  }
  return found
}

/** Whether a value of an access key is a closing one for all modes that it does not name. */
export function closes(key: string, value: string | undefined): boolean {
  return verdictOf(key, value) === 'no'
}

/** Whether a value of an access key opens what it speaks of, be it for local access only. */
export function opens(key: string, value: string | undefined): boolean {
  return value !== undefined && !closes(key, value) && verdictOf(key, value) !== undefined
}

/** The modes that a value of an access key opens a way to though it closes it to all others. */
export function namedModes(value: string | undefined): number {
  let modes = 0
  for (const part of value?.split(';') ?? []) {
    const meaning = meaningOf('access', part.trim())
    if (typeof meaning === 'number') modes |= meaning
  }
  return modes
}

/** The parts of an access value that the law does not know; `unknown` says itself that nothing is known. */
export function unknownParts(key: string, value: string): string[] {
  return value
    .split(';')
    .map((part) => part.trim())
    .filter((part) => meaningOf(key, part) === undefined && part !== 'unknown')
}

/** What the most specific key that says something says to a mode. */
export interface Decision {
  readonly key: string
  readonly verdict: Verdict
}

/** What tags say to a mode, without directions and facilities; undefined when they say nothing. */
export function decisionOf({ mode, keys }: ModeLaw, tags: Tags): Decision | undefined {
  for (const key of keys) {
    const verdict = verdictOf(key, tags.get(key), mode)
    if (verdict !== undefined) return { key, verdict }
  }
  return undefined
}

/** The same in one direction; undefined where the most specific key that says something speaks of both. */
export function directedDecision(
  { mode, keys }: ModeLaw,
  tags: Tags,
  direction: 'forward' | 'backward',
): Decision | undefined {
  for (const key of keys) {
    const verdict = verdictOf(key, tags.get(`${key}:${direction}`), mode)
    if (verdict !== undefined) return { key, verdict }
    if (verdictOf(key, tags.get(key), mode) !== undefined) return undefined
  }
  return undefined
}

/** Modes that a key speaks of and nothing that is more specific, in a direction or in both. */
export function addressed(tags: Tags, key: string, direction: 'forward' | 'backward' | null = null): number {
  let modes = 0
  for (const { mode, keys, streets = [], lanes = [] } of MODE_LAWS) {
    const at = keys.indexOf(key)
    const says = (other: string): boolean =>
      verdictOf(other, tags.get(other), mode) !== undefined ||
      (direction !== null && verdictOf(other, tags.get(`${other}:${direction}`), mode) !== undefined)
    if (at < 0 || keys.slice(0, at).some(says)) continue
    const isOpened = [...streets, ...lanes].some(([name, values]) => values.includes(tags.get(name) ?? ''))
    if (!isOpened || !GENERAL_KEYS.includes(key)) modes |= mode
  }
  return withWheelchair(modes)
}

/** Modes with wheelchairs, which go where walkers do. */
export function withWheelchair(modes: number): number {
  return (modes & Access.foot) === 0 ? modes : modes | Access.wheelchair
}
