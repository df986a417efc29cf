/**
 * Renumbers ranks to a postorder of their elimination tree, which gives the same tree and the same arcs. The largest
 * subtree below a rank comes directly before it, so that ranks close to each other in the tree have close numbers.
 *
 * @param upper for each rank, the higher ranks that an arc of the input graph joins to it
 * @param rank rank of each vertex
 */
export function postorder(upper: { first: Uint32Array; rank: Uint32Array }, rank: Uint32Array): Uint32Array {
  const parent = eliminationTree(upper, rank.length)
  const size = new Uint32Array(rank.length).fill(1)
  const heaviest = new Int32Array(rank.length).fill(-1)
  for (let r = 0; r < rank.length; r++) {
    const above = parent[r]!
    if (above < 0) continue
    size[above]! += size[r]!
    if (heaviest[above]! < 0 || size[r]! > size[heaviest[above]!]!) heaviest[above] = r
  }
  // From the top down: end of the free places for the subtrees below each rank.
  const place = new Uint32Array(rank.length)
  const end = new Uint32Array(rank.length)
  let free = rank.length
  for (let r = rank.length - 1; r >= 0; r--) {
    const above = parent[r]!
    if (above < 0) {
      place[r] = free - 1
      free -= size[r]!
    } else if (heaviest[above] === r) place[r] = place[above]! - 1
    else {
      place[r] = end[above]! - 1
      end[above]! -= size[r]!
    }
    end[r] = place[r]! - (heaviest[r]! < 0 ? 0 : size[heaviest[r]!]!)
  }
  return rank.map((r) => place[r]!)
}

/** The parent of each rank, −1 for roots (Liu, "The Role of Elimination Trees in Sparse Factorization", 1990). */
function eliminationTree(upper: { first: Uint32Array; rank: Uint32Array }, count: number): Int32Array {
  // Lower neighbours of each rank.
  const first = new Uint32Array(count + 1)
  for (const high of upper.rank) first[high + 1]!++
  for (let r = 0; r < count; r++) first[r + 1]! += first[r]!
  const next = first.slice()
  const lower = new Uint32Array(upper.rank.length)
  for (let r = 0; r < count; r++) {
    for (let i = upper.first[r]!; i < upper.first[r + 1]!; i++) lower[next[upper.rank[i]!]!++] = r
  }
  const parent = new Int32Array(count).fill(-1)
  const ancestor = new Int32Array(count).fill(-1)
  for (let r = 0; r < count; r++) {
    for (let i = first[r]!; i < first[r + 1]!; i++) {
      let at = lower[i]!
      while (ancestor[at] !== -1 && ancestor[at] !== r) {
        const above = ancestor[at]!
        ancestor[at] = r
        at = above
      }
      if (ancestor[at] === -1) {
        ancestor[at] = r
        parent[at] = r
      }
    }
  }
  return parent
}
