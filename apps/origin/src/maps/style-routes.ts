import { readParameters, type Http } from '@terrane/service'
import { publishableKeyIn } from '../publishable-keys.ts'
import { noMapFile } from './errors.ts'
import { bodyOf, callerOf, nameOf, removeFile, visibilityOf, type MapsScope } from './request.ts'
import { addressedStyle, readStyle } from './styles.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const STYLE_BYTES = 1024 * 1024

/** `…/styles` and `…/styles/{name}`: MapLibre styles. */
export function styleRoutes(scope: Http, maps: Pick<MapsScope, 'files'>): void {
  const { files } = maps
  const config = { quiet: true }
  scope.get('/styles', { config }, async (request) => {
    const listed = await files.list(callerOf(request), 'style')
    return { styles: listed.map(({ name, isPublic, updatedAt }) => ({ name, isPublic, updatedAt })) }
  })
  scope.get('/styles/:name', { config }, async (request, reply) => {
    const name = nameOf(request)
    const file = await files.read(callerOf(request), { kind: 'style', folder: '', name })
    if (file === null) throw noMapFile('style', name)
    const origin = `${request.protocol}://${request.host}`
    const style = addressedStyle(file.content, origin, publishableKeyIn(request))
    return reply.type(JSON_TYPE).send(JSON.stringify(style))
  })
  scope.put('/styles/:name', { bodyLimit: STYLE_BYTES }, async (request, reply) => {
    const name = nameOf(request)
    const isPublic = visibilityOf(readParameters(request))
    const content = bodyOf(request)
    readStyle(content)
    const given = { content, mediaType: 'application/json', isPublic }
    const created = await files.write(callerOf(request), { kind: 'style', folder: '', name }, given)
    return reply.code(created ? 201 : 200).send({ name })
  })
  scope.delete('/styles/:name', async (request, reply) => {
    await removeFile(maps, request, { kind: 'style', folder: '', name: nameOf(request) })
    return reply.code(204).send()
  })
}
