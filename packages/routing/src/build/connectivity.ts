import { Access, Surface, Use } from '../graph/attributes.ts'
import { EdgeField, get } from '../graph/fields.ts'
import type { EdgeTable } from './edges.ts'

/** Modes whose networks are examined, one bit of the result each. */
const CONNECTED_MODES = [
  Access.car,
  Access.foot,
  Access.bicycle,
  Access.truck,
  Access.taxi,
  Access.bus,
  Access.wheelchair,
  Access.moped,
  Access.motorcycle,
] as const

/** Minimum number of nodes of a large part of a network; a start there is not on an island. */
const LARGE_PART = 100

/**
 * For each node the modes in whose network it belongs to a large strongly connected part. Only edges that no costing
 * option closes and that have no forbidden turns count, so that the result holds for all options. Linear time per mode.
 *
 * @param access modes that may pass each node
 * @param bound modes to which some turn from each edge is forbidden
 * @returns bit masks of access modes
 */
export function findConnected(edges: EdgeTable, access: Uint16Array, bound: Uint16Array): Uint16Array {
  const connected = new Uint16Array(edges.nodeCount)
  for (const mode of CONNECTED_MODES) {
    const isOpen = (edge: number): boolean => (bound[edge]! & mode) === 0 && isAlwaysOpen(edges.info[edge]!, mode)
    const { part, sizes } = strongParts(edges, isOpen, (node) => (access[node]! & mode) !== 0)
    for (let node = 0; node < edges.nodeCount; node++) if (sizes[part[node]!]! >= LARGE_PART) connected[node]! |= mode
  }
  return connected
}

function isAlwaysOpen(info: number, mode: number): boolean {
  if ((get(info, EdgeField.access) & mode) === 0 || get(info, EdgeField.use) >= Use.ferry) return false
  if (mode === Access.bicycle && get(info, EdgeField.use) === Use.steps) return false
  return get(info, EdgeField.hikingDifficulty) === 0 && get(info, EdgeField.surface) <= Surface.pavedRough
}

/** Tarjan's algorithm, without recursion. */
function strongParts(
  edges: EdgeTable,
  isOpen: (edge: number) => boolean,
  isPassed: (node: number) => boolean,
): { part: Uint32Array; sizes: number[] } {
  const { nodeCount, firstEdge, head } = edges
  const index = new Uint32Array(nodeCount)
  const low = new Uint32Array(nodeCount)
  const part = new Uint32Array(nodeCount)
  const onStack = new Uint8Array(nodeCount)
  const next = firstEdge.slice(0, nodeCount)
  const open = new Uint32Array(nodeCount)
  const path = new Uint32Array(nodeCount)
  let openCount = 0
  let pathLength = 0
  const sizes: number[] = []
  let visited = 0
  for (let root = 0; root < nodeCount; root++) {
    if (index[root] !== 0) continue
    enter(root)
    while (pathLength > 0) {
      const node = path[pathLength - 1]!
      if (next[node]! < firstEdge[node + 1]!) {
        const edge = next[node]!++
        const to = head[edge]!
        // A route may end at a closed node, but not pass it.
        if (!isPassed(node) || !isOpen(edge)) continue
        if (index[to] === 0) enter(to)
        else if (onStack[to] === 1) low[node] = Math.min(low[node]!, index[to]!)
      } else {
        leave(node)
      }
    }
  }
  return { part, sizes }

  function enter(node: number): void {
    index[node] = low[node] = ++visited
    path[pathLength++] = node
    open[openCount++] = node
    onStack[node] = 1
  }

  function leave(node: number): void {
    pathLength--
    if (pathLength > 0) {
      const parent = path[pathLength - 1]!
      low[parent] = Math.min(low[parent]!, low[node]!)
    }
    if (low[node] !== index[node]) return
    let size = 0
    for (let member = -1; member !== node; size++) {
      member = open[--openCount]!
      onStack[member] = 0
      part[member] = sizes.length
    }
    sizes.push(size)
  }
}
