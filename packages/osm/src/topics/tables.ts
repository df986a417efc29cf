import { osmTopicUnknown } from '../errors.ts'
import { expandTables } from './import-table.ts'
import type { TopicTable } from './import-table.ts'
import { readStyle } from './read-style.ts'
import type { OsmStyle } from './style.ts'
import { STYLES } from './styles/index.ts'

/** Topics that a caller names; each becomes one table, or one per geometry type where its features mix. */
export type Topic = Exclude<keyof typeof STYLES, 'all'>

const NAMES = Object.keys(STYLES) as readonly (keyof typeof STYLES)[]

export const TOPICS: readonly Topic[] = NAMES.filter((name) => name !== 'all')

/** The tables of all topics: `all`, every feature by its geometry, comes last. */
export const TOPIC_TABLES: readonly TopicTable[] = NAMES.flatMap((topic) => {
  return expandTables(readStyle(STYLES[topic]).tables, topic)
})

/** Names of topics, or a style of one's own. */
export type Topics = readonly string[] | OsmStyle

/**
 * The tables of some topics, or of a style; those of all topics but `all` when the list is absent or empty.
 * @throws OSM_TOPIC_UNKNOWN, OSM_STYLE_INVALID
 */
export function chosenTables(topics: Topics | undefined): readonly TopicTable[] {
  if (isStyle(topics)) return expandTables(readStyle(topics).tables, null)
  const wanted = new Set<string>(topics && topics.length > 0 ? topics : TOPICS)
  for (const topic of wanted) if (!Object.hasOwn(STYLES, topic)) throw osmTopicUnknown({ topic, known: NAMES })
  return TOPIC_TABLES.filter(({ topic }) => wanted.has(topic))
}

function isStyle(topics: Topics | undefined): topics is OsmStyle {
  return topics !== undefined && !Array.isArray(topics)
}
