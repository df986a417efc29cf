import { signToken, unauthorized, verifyClaims } from '@terrane/auth'
import type { Http } from '@terrane/service'
import { checkKey, objectNotFound } from '@terrane/storage'
import { Type } from 'typebox'
import { sendObject } from './send-object.ts'
import { existingObject, keyOf, requireService, type StorageDeps } from './access.ts'

const Params = Type.Object({ bucket: Type.String(), '*': Type.String() })
const Token = Type.Object({ token: Type.String({ maxLength: 8192 }), download: Type.Optional(Type.String()) })
const MAX_SECONDS = 315_360_000
const Sign = Type.Object({ expiresIn: Type.Integer({ minimum: 1, maximum: MAX_SECONDS }) })
const SignMany = Type.Object({
  expiresIn: Type.Integer({ minimum: 1, maximum: MAX_SECONDS }),
  paths: Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 1000 }),
})

/** Seconds for which an upload URL may be used. */
const UPLOAD_SECONDS = 7200

/** Signed URLs, valid for a limited time: `/object/sign` to read, `/object/upload/sign` to write one object. */
export function signRoutes(app: Http, deps: StorageDeps): void {
  app.post('/object/sign/:bucket/*', { schema: { params: Params, body: Sign } }, async (request) => {
    await requireService(deps, request)
    const { bucket } = request.params
    const { key } = await existingObject(deps, bucket, keyOf(request))
    return { signedURL: await signedUrl(bucket, key, request.body.expiresIn) }
  })
  app.post(
    '/object/sign/:bucket',
    { schema: { params: Type.Object({ bucket: Type.String() }), body: SignMany } },
    async (request) => {
      await requireService(deps, request)
      const { bucket } = request.params
      return Promise.all(
        request.body.paths.map(async (path) => {
          const found = await deps.store.head(bucket, path)
          if (!found)
            return { path, signedURL: null, error: 'Either the object does not exist or you do not have access to it' }
          return { path, signedURL: await signedUrl(bucket, path, request.body.expiresIn), error: null }
        }),
      )
    },
  )
  app.route({
    method: ['GET', 'HEAD'],
    url: '/object/sign/:bucket/*',
    schema: { params: Params, querystring: Token },
    handler: async (request, reply) => {
      const { bucket } = request.params as { bucket: string }
      const { token } = request.query as { token: string }
      await verifySignedUrl(deps, token, 'read', { bucket, key: keyOf(request) })
      return sendObject(deps, request, reply, await existingObject(deps, bucket, keyOf(request)))
    },
  })

  app.post('/object/upload/sign/:bucket/*', { schema: { params: Params } }, async (request) => {
    await requireService(deps, request)
    const { bucket } = request.params
    const key = keyOf(request)
    checkKey(key)
    const upsert = request.headers['x-upsert'] === 'true'
    const token = await signToken({ url: `${bucket}/${key}`, use: 'write', upsert }, deps.jwtSecret, UPLOAD_SECONDS)
    return { url: `/object/upload/sign/${bucket}/${key}?token=${token}`, token }
  })

  async function signedUrl(bucket: string, key: string, seconds: number): Promise<string> {
    const token = await signToken({ url: `${bucket}/${key}`, use: 'read' }, deps.jwtSecret, seconds)
    // The key is not encoded here, because storage-js encodes it.
    return `/object/sign/${bucket}/${key}?token=${token}`
  }
}

/** The claims of a signed URL's token for an object and a use. @throws UNAUTHORIZED, OBJECT_NOT_FOUND */
export async function verifySignedUrl(
  deps: StorageDeps,
  token: string,
  use: 'read' | 'write',
  address: { bucket: string; key: string },
): Promise<Readonly<Record<string, unknown>>> {
  const claims = await verifyClaims(token, deps.jwtSecret, deps.checkRevoked)
  if (claims['use'] !== use) throw unauthorized({ reason: 'unknown' })
  if (claims['url'] !== `${address.bucket}/${address.key}`) throw objectNotFound(address)
  return claims
}
