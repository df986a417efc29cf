import { STYLE_LIMITS } from './style-limits.ts'
import { below, listAt, objectAt, refuse, textAt, textsAt } from './style-check.ts'
import type { Filter } from './style.ts'

const KINDS = ['key', 'has', 'hasOther', 'prefix', 'all', 'any', 'not'] as const
const VALUES = ['is', 'isNot', 'startsWith'] as const

/** Checks filters, and counts their conditions together. */
export class FilterReader {
  #conditions = 0

  /** @throws OSM_STYLE_INVALID */
  read(value: unknown, path: string, depth = 1): Filter {
    const { depth: deepest, conditions, list } = STYLE_LIMITS
    if (depth > deepest) refuse(path, 'is too deep', `Put at most ${deepest} filters into each other.`)
    if (++this.#conditions > conditions) refuse(path, 'is one too many', `Use at most ${conditions} conditions.`)
    const filter = objectAt(value, path, [...KINDS, ...VALUES])
    const given = KINDS.filter((kind) => kind in filter)
    const [kind] = given
    if (given.length !== 1 || !kind) {
      refuse(
        path,
        `has ${given.join(' and ') || 'no condition'}`,
        `Use one of ${KINDS.join(', ')}; all and any join several.`,
      )
    }
    const about = VALUES.filter((name) => name in filter)
    if (kind !== 'key' && about.length > 0) {
      refuse(
        below(path, about[0]!),
        `does not go with ${kind}`,
        `Use it with key: {"key": "highway", "${about[0]!}": …}.`,
      )
    }
    if (about.length > 1) refuse(below(path, about[1]!), `does not go with ${about[0]!}`, 'Join two filters by all.')
    const at = below(path, kind)
    if (kind === 'all' || kind === 'any') {
      for (const [i, inner] of listAt(filter[kind], at, list).entries()) this.read(inner, below(at, i), depth + 1)
    } else if (kind === 'not') this.read(filter[kind], at, depth + 1)
    else if (kind === 'hasOther') {
      for (const [i, key] of listAt(filter[kind], at, list).entries()) textAt(key, below(at, i))
    } else textAt(filter[kind], at)
    for (const name of about) {
      if (name === 'startsWith') textAt(filter[name], below(path, name))
      else textsAt(filter[name], below(path, name))
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
    return value as Filter
  }
}
