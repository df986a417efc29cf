import type { Filter, VectorLayer } from '@terrane/map-style'
import type { Project } from '../../lib/project.ts'

/** Properties of a table in tiles, with their kinds. */
export type Fields = Readonly<Record<string, 'String' | 'Number' | 'Boolean'>>

export interface OptionsProps {
  readonly project: Project
  readonly layer: VectorLayer
  readonly fields: Fields
  readonly onChange: (layer: VectorLayer, key?: string) => void
}

type Kind = Fields[string] | undefined

/** Texts of conditions, between a property and its value. */
export const SAID: Readonly<Record<Filter['is'], string>> = {
  equal: 'is',
  not: 'is not',
  less: 'is below',
  more: 'is above',
  contains: 'contains',
  empty: 'is empty',
  filled: 'is not empty',
}

/** Conditions with the same meaning on the map and in the rows of a property. */
export function conditionsOf(kind: Kind): readonly Filter['is'][] {
  const all = Object.keys(SAID) as Filter['is'][]
  if (kind === undefined) return all
  return all.filter((is) => {
    if (is === 'contains') return kind === 'String'
    return kind === 'Number' || (is !== 'less' && is !== 'more')
  })
}

/** A filter whose condition and value match its property's kind; with an unknown kind it is not changed. */
export function fitted({ property, is, value }: Filter, kind: Kind): Filter {
  if (kind === undefined) return { property, is, value }
  return { property, is: conditionsOf(kind).includes(is) ? is : 'equal', value: valueOf(kind, value) }
}

function valueOf(kind: Fields[string], value: Filter['value']): Filter['value'] {
  if (kind === 'String') return String(value)
  if (kind === 'Boolean') return value !== false && value !== 'false'
  const number = typeof value === 'boolean' ? 0 : Number(value)
  return Number.isFinite(number) ? number : 0
}
