import type { Principal } from '@terrane/auth'
import { readParameters, type Http } from '@terrane/service'
import { LRUCache } from 'lru-cache'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { noMapFile, spriteTooLarge } from './errors.ts'
import { checkName, type MapFileName } from './map-files.ts'
import { bodyOf, callerOf, nameOf, removeFile, visibilityOf, type MapsScope } from './request.ts'
import { iconType, MOST_ICONS, PNG, type Sheet } from './sprites.ts'

const ICON_BYTES = 128 * 1024
const SHEET_BYTES = 32 * 1024 * 1024
/** Estimated bytes of an icon's entry in an index. */
const PLACE_BYTES = 200

type Sheets = LRUCache<
  string,
  Sheet,
  { readonly principal: Principal; readonly sprite: string; readonly ratio: number }
>

/** `…/sprites`, `…/sprites/{sprite}.json`, `.png`, `@2x.json` and `@2x.png`, made of `…/sprites/{sprite}/{icon}`. */
export function spriteRoutes(scope: Http, maps: MapsScope): void {
  const { files } = maps
  const config = { quiet: true }
  const sheets: Sheets = new LRUCache({
    maxSize: SHEET_BYTES,
    sizeCalculation: ({ png, index }, key) => png.byteLength + Object.keys(index).length * PLACE_BYTES + 2 * key.length,
    fetchMethod: async (key, _stale, { context: { principal, sprite, ratio } }) => {
      // Icons that were changed or shared since the listing belong to another sheet, so they are left out.
      const lines = new Set(key.split('\n'))
      const icons = (await files.icons(principal, sprite)).filter((icon) => lines.has(lineOf(icon)))
      return maps.drawing.call('makeSheet', { icons, ratio }, key)
    },
  })
  scope.get('/sprites', { config }, async (request) => {
    const listed = await files.list(callerOf(request), 'icon')
    const bySprite = Map.groupBy(listed, ({ folder }) => folder)
    return {
      sprites: [...bySprite].map(([name, icons]) => ({
        name,
        icons: icons.map((icon) => ({ name: icon.name, type: icon.mediaType, isPublic: icon.isPublic })),
      })),
    }
  })
  scope.get('/sprites/:file', { config }, async (request, reply) => sendSheet(maps, sheets, request, reply))
  scope.get('/sprites/:sprite/:icon', { config }, async (request, reply) => {
    const { file } = iconOf(request)
    const found = await files.read(callerOf(request), file)
    if (found === null) throw noMapFile('icon', file.name)
    // An uploaded picture must never run as a page of this origin.
    reply.headers({ 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' })
    return reply.type(found.mediaType).send(found.content)
  })
  scope.put('/sprites/:sprite/:icon', { bodyLimit: ICON_BYTES }, async (request, reply) => {
    const { file, pixelRatio } = iconOf(request)
    const isPublic = visibilityOf(readParameters(request))
    const content = bodyOf(request)
    const mediaType = iconType(content)
    await maps.drawing.call('checkIcon', { name: file.name, content, mediaType, pixelRatio })
    const created = await files.write(callerOf(request), file, { content, mediaType, pixelRatio, isPublic })
    return reply.code(created ? 201 : 200).send({ sprite: file.folder, name: file.name })
  })
  scope.delete('/sprites/:sprite/:icon', async (request, reply) => {
    await removeFile(maps, request, iconOf(request).file)
    return reply.code(204).send()
  })
}

/** An icon in the key of a sheet. */
function lineOf({
  name,
  sha256,
  pixelRatio,
}: {
  readonly name: string
  readonly sha256: string
  readonly pixelRatio: number
}) {
  return `${name} ${sha256} ${pixelRatio}`
}

/** The icon of a path: `bus`, `bus.svg`, or `bus@2x.png` with two pixels for each pixel of the map. @throws BAD_NAME */
function iconOf(request: FastifyRequest): { readonly file: MapFileName; readonly pixelRatio: number } {
  const { icon = '' } = request.params as { icon?: string }
  const [, name = '', ratio] = /^(.*?)(?:@([1-4])x)?(?:\.(?:svg|png))?$/s.exec(icon) ?? []
  const folder = nameOf(request, 'sprite')
  return { file: { kind: 'icon', folder, name: checkName(name) }, pixelRatio: Number(ratio ?? 1) }
}

async function sendSheet(
  { files }: MapsScope,
  sheets: Sheets,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { file } = request.params as { file: string }
  const [, sprite = file, ratio, ending] = /^(.*?)(?:@([1-4])x)?\.(json|png)$/s.exec(file) ?? []
  checkName(sprite)
  const principal = callerOf(request)
  const listed = await files.list(principal, 'icon', sprite)
  if (listed.length === 0 || ending === undefined) throw noMapFile('sprite', file.slice(0, 120))
  if (listed.length > MOST_ICONS) throw spriteTooLarge(`${listed.length} icons, and ${MOST_ICONS} is the most`)
  const scale = Number(ratio ?? 1)
  // The key consists of the icons that the caller may read, so callers with other rights get other sheets.
  const key = [scale, ...listed.map(lineOf)].join('\n')
  const sheet = await sheets.forceFetch(key, { context: { principal, sprite, ratio: scale } })
  if (ending === 'png') return reply.type(PNG).send(sheet.png)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(sheet.index))
}
