export { AreaAssembler } from './area/assemble.ts'
export type { AreaFault } from './area/assemble.ts'
export { NODE, RELATION, UNDEFINED_COORDINATE, UNITS_PER_DEGREE, WAY } from './block.ts'
export type {
  BlockVisitor,
  Kinds,
  NodeColumns,
  OsmBlock,
  OsmHeader,
  RelationColumns,
  TagColumns,
  WayColumns,
} from './block.ts'
export { blockElements, tagsOf } from './element.ts'
export type { OsmElement, OsmMember, OsmNode, OsmRelation, OsmTags, OsmWay } from './element.ts'
export { openOsm } from './open.ts'
export { PbfReader } from './pbf/read.ts'
export { writePbf } from './pbf/write.ts'
export type { PbfWriteOptions } from './pbf/write.ts'
export type { OsmReader, ReadOptions } from './reader.ts'
export { bytesSource, fileSource } from './source.ts'
export type { OsmSource, RandomAccess } from './source.ts'
export type { StringTable } from './string-table.ts'
export { XmlReader } from './xml/read.ts'
export { importOsmArea, topicTables } from './topics/import-area.ts'
export type { ImportOptions, ImportResult, RowSink } from './topics/import-area.ts'
export { AREA_RELATIONS, AREA_RULES } from './topics/area-rules.ts'
export { ClosedWayTest } from './topics/closed-way.ts'
export { TOPICS, TOPIC_TABLES } from './topics/tables.ts'
export type { Topic, Topics } from './topics/tables.ts'
export { UNINFORMATIVE_KEYS } from './topics/import-table.ts'
export type { ImportColumnType } from './topics/columns.ts'
export type { ImportColumn, ImportTable, TopicTable } from './topics/import-table.ts'
export type { ImportRow } from './topics/topic-rows.ts'
export { AREA, LINE, LINES, POINT } from './features/feature.ts'
export type { ElementKind, FeatureCounts, FeatureVisitor, OsmFeature } from './features/feature.ts'
export type { NodeLimits } from './features/node-locations.ts'
export { spillBytes } from './features/spill.ts'
export type { ScratchFile, Spill } from './features/spill.ts'
export { readFeatures } from './features/read-features.ts'
export type { ReadFeaturesOptions, ReadFeaturesResult } from './features/read-features.ts'
export { TagView } from './features/tag-view.ts'
