import type { Examples, SearchFrom } from '../../lib/embeddings.ts'

/** Reads `12, 15, -40`: ids of tiles like those wanted, with a minus those unlike them. Null when it is none. */
export function readExamples(text: string): Examples | null {
  const parts = text.split(',').map((part) => part.trim())
  if (!parts.every((part) => /^-?\d+$/.test(part))) return null
  const like = parts.filter((part) => !part.startsWith('-'))
  const unlike = parts.filter((part) => part.startsWith('-')).map((part) => part.slice(1))
  return like.length > 0 ? { like, unlike } : null
}

/** The same as text. */
export function writeExamples({ like, unlike }: Examples): string {
  return [...like, ...unlike.map((id) => `-${id}`)].join(', ')
}

/** Adds a tile to one side and takes it off the other; a second time takes it off altogether. One example remains. */
export function withExample(from: SearchFrom | null, id: string, side: keyof Examples): SearchFrom {
  const { like, unlike } = from && 'like' in from ? from : { like: [], unlike: [] }
  const sides = { like: like.filter((one) => one !== id), unlike: unlike.filter((one) => one !== id) }
  const had = (side === 'like' ? like : unlike).includes(id)
  const next = had ? sides : { ...sides, [side]: [...sides[side], id] }
  return next.like.length > 0 || from === null ? next : from
}
