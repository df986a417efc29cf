import { Access } from '../../graph/attributes.ts'
import { GENERAL_KEYS, meaningOf, MODE_LAWS, type ModeLaw } from '../access-law.ts'
import type { Tags } from './values.ts'

/** Access of a mode by tags: open, open for local access only, or closed. */
export type Verdict = 'yes' | 'local' | 'no'

/** Access of a mode by a value of an access key; in a list (`yes;designated`) the most permissive part counts. */
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

/** Whether a value of an access key closes the way to all modes that it does not name explicitly. */
export function closes(key: string, value: string | undefined): boolean {
  return verdictOf(key, value) === 'no'
}

/** Whether a value of an access key opens the way to the key's modes, at least for local access. */
export function opens(key: string, value: string | undefined): boolean {
  return value !== undefined && !closes(key, value) && verdictOf(key, value) !== undefined
}

/** The modes that a value of an access key names, such as `bus` or `psv`: open to these, closed to others. */
export function namedModes(value: string | undefined): number {
  let modes = 0
  for (const part of value?.split(';') ?? []) {
    const meaning = meaningOf('access', part.trim())
    if (typeof meaning === 'number') modes |= meaning
  }
  return modes
}

/** The unknown parts of an access value; `unknown` itself is a known value. */
export function unknownParts(key: string, value: string): string[] {
  return value
    .split(';')
    .map((part) => part.trim())
    .filter((part) => meaningOf(key, part) === undefined && part !== 'unknown')
}

/** The access of a mode and the most specific key that decides it. */
export interface Decision {
  readonly key: string
  readonly verdict: Verdict
}

/** Access of a mode by its tags, without directions and facilities; undefined when no tag decides. */
export function decisionOf({ mode, keys }: ModeLaw, tags: Tags): Decision | undefined {
  for (const key of keys) {
    const verdict = verdictOf(key, tags.get(key), mode)
    if (verdict !== undefined) return { key, verdict }
  }
  return undefined
}

/** Access of a mode in one direction; undefined when the deciding key applies to both directions. */
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

/** Modes of a key for which no more specific key decides, neither in general nor in the given direction. */
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

/** Adds wheelchairs to modes with pedestrians. */
export function withWheelchair(modes: number): number {
  return (modes & Access.foot) === 0 ? modes : modes | Access.wheelchair
}
