/**
 * A seeded source of uniform numbers in [0, 1) with 32 bits of state: the same seed gives the same sequence on every
 * machine. For fixtures, tests and benches; not for secrets.
 *
 * Source: Tommy Ettinger's Mulberry32 (public domain).
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
