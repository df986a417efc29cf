import { seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'

import { FlowGraph } from './flow.ts'
import { type LinkNetwork, nestedDissection } from './order.ts'

test('a maximum flow is as large as the smallest cut, and marks such cuts from both ends', async () => {
  const graph = new FlowGraph()
  await randomCases(300, (random) => {
    const count = 2 + Math.floor(random() * 7)
    const edges = Array.from({ length: Math.floor(random() * 30) }, () => {
      const [tail, head] = [0, 0].map(() => Math.floor(random() * count)) as [number, number]
      return { tail, head }
    }).filter(({ tail, head }) => tail !== head)
    graph.begin(count)
    graph.terminal[0] = 1
    graph.terminal[count - 1] = 2
    if (count > 4 && random() < 0.5) graph.terminal[1] = 1
    if (count > 5 && random() < 0.5) graph.terminal[2] = 2
    for (const { tail, head } of edges) graph.add(tail, head)
    graph.finish()
    const crossing = (isFirst: (node: number) => boolean): number =>
      edges.filter(({ tail, head }) => isFirst(tail) !== isFirst(head)).length
    let least = Infinity
    for (let subset = 0; subset < 2 ** count; subset++) {
      const isIn = (node: number): boolean => ((subset >> node) & 1) === 1
      const fits = Array.from(
        { length: count },
        (_, node) => graph.terminal[node] === 0 || isIn(node) === (graph.terminal[node] === 1),
      )
      if (fits.every(Boolean)) least = Math.min(least, crossing(isIn))
    }
    expect(graph.maximumFlow(Infinity)).toBe(least)
    for (const fromSource of [true, false]) {
      graph.markSide(fromSource)
      const side = graph.side.slice()
      expect(crossing((node) => (side[node] === 1) === fromSource)).toBe(least)
    }
    if (least > 1) expect(graph.maximumFlow(least - 1)).toBeGreaterThanOrEqual(least - 1)
  })
})

/** Streets along both axes of a grid, some of them missing. */
function grid(width: number, height: number, missing = 0): LinkNetwork {
  const random = seededRandom(1)
  const at = (column: number, row: number): number => row * width + column
  const links: [number, number][] = []
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      if (column + 1 < width && random() >= missing) links.push([at(column, row), at(column + 1, row)])
      if (row + 1 < height && random() >= missing) links.push([at(column, row), at(column, row + 1)])
    }
  }
  const nodes = Array.from({ length: width * height }, (_, node) => node)
  return {
    nodeCount: nodes.length,
    x: Float32Array.from(nodes, (node) => node % width),
    y: Float32Array.from(nodes, (node) => Math.floor(node / width)),
    linkTail: Uint32Array.from(links, ([tail]) => tail),
    linkHead: Uint32Array.from(links, ([, head]) => head),
  }
}

/** The links with the highest ranks that part a network: how many, and the share of the nodes in its smaller half. */
function topCut({ nodeCount, linkTail, linkHead }: LinkNetwork, rank: Uint32Array) {
  const byRank = Array.from(rank, (_, link) => link).toSorted((a, b) => rank[b]! - rank[a]!)
  for (let cut = 1; ; cut++) {
    const parent = Array.from({ length: nodeCount }, (_, node) => node)
    const find = (node: number): number => {
      let at = node
      while (parent[at] !== at) at = parent[at] = parent[parent[at]!]!
      return at
    }
    for (const link of byRank.slice(cut)) parent[find(linkTail[link]!)] = find(linkHead[link]!)
    const first = Array.from({ length: nodeCount }, (_, node) => find(node) === find(0)).filter(Boolean).length
    if (first < nodeCount) return { cut, share: Math.min(first, nodeCount - first) / nodeCount }
  }
}

test.each([
  ['of a few streets', grid(12, 5), 5],
  ['that flows cut', grid(60, 12), 12],
  ['that clusters cut first, almost as well', grid(150, 30), 33],
])('a network %s is cut across, by few links and in halves', (_, network, width) => {
  const rank = nestedDissection(network)
  expect(rank.toSorted()).toEqual(Uint32Array.from(rank, (__, link) => link))
  const { cut, share } = topCut(network, rank)
  expect(cut).toBeLessThanOrEqual(width)
  expect(share).toBeGreaterThan(0.25)
})

test('networks in pieces, with links from a node to itself, and without links are ranked', () => {
  const pieces = grid(60, 60, 0.6)
  const rank = nestedDissection(pieces)
  expect(rank.toSorted()).toEqual(Uint32Array.from(rank, (_, link) => link))
  const loops = { ...grid(3, 1), linkTail: Uint32Array.of(0, 1, 1), linkHead: Uint32Array.of(1, 1, 2) }
  expect(nestedDissection(loops)[1]).toBe(0)
  expect(nestedDissection({ ...grid(3, 1), linkTail: new Uint32Array(), linkHead: new Uint32Array() })).toHaveLength(0)
})
