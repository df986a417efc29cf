import { readParameters, type Http } from '@terrane/service'
import { noFont, noMapFile } from './errors.ts'
import { BUILT_IN_FONTS, Glyphs, rangeStart, type Font } from './glyphs.ts'
import { bodyOf, callerOf, nameOf, removeFile, visibilityOf, type MapsScope } from './request.ts'
import type { FastifyRequest } from 'fastify'

const FONT_BYTES = 6 * 1024 * 1024
const MOST_FONTS = 8

/** `…/fonts` and `…/fonts/{stack}/{range}.pbf`, made of built-in fonts and of `…/fonts/{name}`. */
export function fontRoutes(scope: Http, maps: MapsScope): void {
  const { files } = maps
  const config = { quiet: true }
  const glyphs = new Glyphs(maps.drawing)
  scope.get('/fonts', { config }, async (request) => ({ fonts: [...(await fontsOf(maps, request)).keys()].toSorted() }))
  scope.get('/fonts/:stack/:range', { config }, async (request, reply) => {
    const { stack, range } = request.params as { stack: string; range: string }
    const start = rangeStart(range)
    const names = stack.split(',').map((name) => name.trim())
    const known = await fontsOf(maps, request)
    const found = [...new Set(names.filter((name) => known.has(name)))].slice(0, MOST_FONTS)
    if (found.length === 0) throw noFont(stack.slice(0, 200), [...known.keys()])
    const made = await glyphs.range(
      found.join(','),
      found.flatMap((name) => known.get(name) ?? []),
      start,
    )
    return reply.type('application/x-protobuf').send(made)
  })
  scope.put('/fonts/:name', { bodyLimit: FONT_BYTES }, async (request, reply) => {
    const name = nameOf(request)
    const isPublic = visibilityOf(readParameters(request))
    const content = bodyOf(request)
    const face = await glyphs.faceName(content)
    const given = { content, mediaType: 'application/octet-stream', isPublic }
    const created = await files.write(callerOf(request), { kind: 'font', folder: '', name }, given)
    return reply.code(created ? 201 : 200).send({ name, face })
  })
  scope.delete('/fonts/:name', async (request, reply) => {
    await removeFile(maps, request, { kind: 'font', folder: '', name: nameOf(request) })
    return reply.code(204).send()
  })
}

/** Fonts that the caller may use; an uploaded font replaces a built-in one of its name. */
async function fontsOf({ files }: MapsScope, request: FastifyRequest): Promise<Map<string, Font>> {
  const principal = callerOf(request)
  const known = new Map(BUILT_IN_FONTS)
  for (const { name, sha256 } of await files.list(principal, 'font')) {
    const read = async () => {
      const file = await files.read(principal, { kind: 'font', folder: '', name })
      // The font may have been replaced since it was listed.
      if (file?.sha256 !== sha256) throw noMapFile('font', name)
      return [file.content]
    }
    known.set(name, { id: sha256, files: read })
  }
  return known
}
