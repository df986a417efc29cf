export { AreaAssembler } from './area/assemble.ts'
export type { AreaFault } from './area/assemble.ts'
export { COORDINATE_SCALE, NODE, RELATION, UNDEFINED_COORDINATE, WAY } from './block.ts'
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
export type { OsmSource } from './source.ts'
export type { StringTable } from './string-table.ts'
export { XmlReader } from './xml/read.ts'
