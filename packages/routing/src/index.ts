export { buildGraph } from './build/build-graph.ts'
export type { BuildOptions } from './build/build-graph.ts'
export type { Graph } from './graph/graph.ts'
