import type { JobWarning } from '@terrane/contracts'
import type { ImportResult, ImportTable, Topics } from '@terrane/osm'
import type { OsmStyle } from '@terrane/osm/styles'

/** Whether the request lists topics instead of a style. */
export function isNamed(topics: Topics): topics is Exclude<Topics, OsmStyle> {
  return Array.isArray(topics)
}

/** Whether a request has a style. */
export function isStyle(topics: Topics | undefined): boolean {
  return topics !== undefined && !isNamed(topics)
}

/** Whether a request names a table or its topic explicitly. */
export function isAskedFor(topics: Topics | undefined, { topic }: ImportTable): boolean {
  if (topics === undefined) return false
  return !isNamed(topics) || topics.includes(topic)
}

/** Warnings about elements that gave no row. Missing nodes alone do not count: every extract ends somewhere. */
export function lossWarnings({ counts, unsimplified }: Pick<ImportResult, 'counts' | 'unsimplified'>): JobWarning[] {
  const { openAreas, invalidAreas, missingMembers } = counts
  const losses = [
    ['AREAS_NOT_CLOSED', 'Areas whose rings do not close were left out; the extract may end within them.', openAreas],
    ['AREAS_INVALID', 'Areas whose lines cross each other were left out.', invalidAreas],
    ['MEMBERS_MISSING', 'Ways of relations have no row: the extract lacks them.', missingMembers],
    ['NOT_SIMPLIFIED', 'Features were not simplified: they have too many points.', unsimplified],
  ] as const
  return losses.flatMap(([code, message, count]) => (count > 0 ? [{ code, message, count }] : []))
}
