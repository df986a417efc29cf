import type { Job } from '@terrane/contracts'
import { humanise } from './format.ts'

/** Maximum characters of a value. */
const MAX_TEXT = 300
/** Members that only route a job. The page belongs to the project that `projectTarget` names. */
const INTERNAL: ReadonlySet<string> = new Set(['projectTarget'])

/** The input of a job as terms and texts, without internal members. A part of a job has the input of the whole job. */
export function jobInputFacts(input: Job['input']): (readonly [string, string])[] {
  const { request, shard } = input as { request?: unknown; shard?: { readonly name?: unknown } }
  const isPart = isRecord(request) && isRecord(shard)
  const shown = isPart ? { ...request, ...(shard.name !== undefined && { part: shard.name }) } : input
  return Object.entries(shown)
    .filter(([name]) => !INTERNAL.has(name))
    .map(([name, value]) => [humanise(name), shortened(textOf(value))])
}

/** A value for people: lists with commas, a stored file as its path, a geometry as its kind and size. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) {
    const isNested = value.some((one) => typeof one === 'object')
    return value.length === 0 ? 'none' : value.map(textOf).join(isNested ? '; ' : ', ')
  }
  if (!isRecord(value)) return typeof value === 'string' ? value : JSON.stringify(value)
  return (
    fileText(value) ??
    geoJsonText(value) ??
    Object.entries(value)
      .map(([name, member]) => `${humanise(name)}: ${textOf(member)}`)
      .join(', ')
  )
}

function fileText({ bucket, path, prefix = path }: Readonly<Record<string, unknown>>): string | null {
  return typeof bucket === 'string' && typeof prefix === 'string' ? `${bucket}/${prefix}` : null
}

function geoJsonText(value: Readonly<Record<string, unknown>>): string | null {
  const { type, coordinates, features, geometry, geometries } = value
  if (typeof type !== 'string') return null
  if (isRecord(geometry)) return textOf(geometry)
  const parts = features ?? geometries
  if (Array.isArray(parts)) return `${type}, ${counted(parts.length, 'part')}`
  return Array.isArray(coordinates) ? `${type}, ${counted(positionsIn(coordinates), 'position')}` : null
}

function positionsIn(coordinates: readonly unknown[]): number {
  if (!Array.isArray(coordinates[0])) return coordinates.length > 0 ? 1 : 0
  return coordinates.reduce((sum: number, part) => sum + positionsIn(part as readonly unknown[]), 0)
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
