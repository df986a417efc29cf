import type { JobWarning, OsmImportArea } from '@terrane/contracts'
import type { FeatureCounts, ImportTable } from '@terrane/osm'

/** Whether a request names the topic of a table, rather than taking all of them. */
export function isAskedFor(topics: OsmImportArea['topics'], { topic }: ImportTable): boolean {
  return topics?.some((asked) => asked === topic) ?? false
}

/** What of an extract could not become features. Missing nodes alone are none: every extract ends somewhere. */
export function lossWarnings({ openAreas, invalidAreas }: FeatureCounts): JobWarning[] {
  const warnings: JobWarning[] = []
  if (openAreas > 0) {
    const message = 'Areas whose rings do not close were left out; the extract may end within them.'
    warnings.push({ code: 'AREAS_NOT_CLOSED', message, count: openAreas })
  }
  if (invalidAreas > 0) {
    const message = 'Areas whose lines cross each other were left out.'
    warnings.push({ code: 'AREAS_INVALID', message, count: invalidAreas })
  }
  return warnings
}
