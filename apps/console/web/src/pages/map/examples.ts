import type { Examples, SearchFrom } from '../../lib/embeddings.ts'

/** Parses `12, 15, -40`: ids of similar tiles, and with a minus ids of dissimilar ones. Null for other texts. */
export function readExamples(text: string): Examples | null {
  const parts = text.split(',').map((part) => part.trim())
  if (!parts.every((part) => /^-?\d+$/.test(part))) return null
  const like = parts.filter((part) => !part.startsWith('-'))
  const unlike = parts.filter((part) => part.startsWith('-')).map((part) => part.slice(1))
  return like.length > 0 ? { like, unlike } : null
}

/** The text for {@link readExamples}. */
export function writeExamples({ like, unlike }: Examples): string {
  return [...like, ...unlike.map((id) => `-${id}`)].join(', ')
}

/**
 * Adds a tile to one side and removes it from the other; a second call removes it from both. Returns `from` unchanged
 * when no similar tile would remain.
 */
export function withExample(from: SearchFrom | null, id: string, side: keyof Examples): SearchFrom | null {
  const { like, unlike } = from && 'like' in from ? from : { like: [], unlike: [] }
  const sides = { like: like.filter((one) => one !== id), unlike: unlike.filter((one) => one !== id) }
  const had = (side === 'like' ? like : unlike).includes(id)
  const next = had ? sides : { ...sides, [side]: [...sides[side], id] }
  return next.like.length > 0 ? next : from
}
