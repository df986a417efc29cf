import { firstAtLeast } from '../graph/first-at-least.ts'
import type { EdgeTable } from './edges.ts'
import type { Junctions, LinkTable } from './links.ts'
import type { NodeIndex } from './node-index.ts'
import type { Ways } from './ways.ts'

interface LookupInputs {
  readonly ways: Ways
  readonly links: LinkTable
  readonly junctions: Junctions
  readonly nodes: NodeIndex
  readonly edges: EdgeTable
}

/** Nodes and edges by their OSM ids, for restrictions. */
export function lookups({ ways, links, junctions, nodes, edges }: LookupInputs): {
  wayOf: (edge: number) => number
  nodeOf: (id: number) => number
  edgesOf: (way: number) => readonly number[]
} {
  const nodeOfJunction = new Uint32Array(junctions.count)
  for (const [node, junction] of edges.junction.entries()) nodeOfJunction[junction] = node
  return {
    wayOf: (edge) => ways.ids[links.way[edges.link[edge]!]!]!,
    nodeOf: (id) => {
      const number = nodes.find(id)
      const junction = firstAtLeast(junctions.node, number)
      return number >= 0 && junctions.node[junction] === number ? nodeOfJunction[junction]! : -1
    },
    edgesOf: (id) => {
      const way = firstAtLeast(ways.ids, id)
      if (ways.ids[way] !== id) return []
      const found: number[] = []
      for (let link = firstAtLeast(links.way, way); links.way[link] === way; link++) {
        for (const end of [junctions.tail[link]!, junctions.head[link]!]) {
          const node = nodeOfJunction[end]!
          for (let edge = edges.firstEdge[node]!; edge < edges.firstEdge[node + 1]!; edge++) {
            if (edges.link[edge] === link) found.push(edge)
          }
        }
      }
      return [...new Set(found)].toSorted((a, b) => a - b)
    },
  }
}
