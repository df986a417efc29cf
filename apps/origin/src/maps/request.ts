import type { Principal } from '@terrane/auth'
import type { FastifyRequest } from 'fastify'
import { RestError } from '../rest/errors.ts'
import type { DrawingProcess } from './drawing-process.ts'
import { noMapFile } from './errors.ts'
import { checkName, type MapFileName, type MapFiles } from './map-files.ts'

/** Dependencies of the routes of `/maps/v1`. */
export interface MapsScope {
  readonly files: MapFiles
  readonly drawing: DrawingProcess
}

/** The caller of a request. */
export function callerOf(request: FastifyRequest): Principal {
  return request.restCaller as Principal
}

/** A name of the path. @throws BAD_NAME */
export function nameOf(request: FastifyRequest, parameter = 'name'): string {
  return checkName((request.params as Record<string, string>)[parameter] ?? '')
}

/** Bytes of a body; a missing body is empty. */
export function bodyOf(request: FastifyRequest): Uint8Array {
  return Buffer.isBuffer(request.body) ? request.body : new Uint8Array()
}

/** `public=true` or `public=false`; null when it is not given. @throws BAD_PARAMETER */
export function visibilityOf(parameters: URLSearchParams): boolean | null {
  const text = parameters.get('public')
  if (text === null || text === 'true' || text === 'false') return text === null ? null : text === 'true'
  throw new RestError(400, 'BAD_PARAMETER', 'The parameter public cannot be read', { hint: 'Use true or false.' })
}

/** Deletes a file. @throws MAP_FILE_NOT_FOUND */
export async function removeFile(
  { files }: Pick<MapsScope, 'files'>,
  request: FastifyRequest,
  file: MapFileName,
): Promise<void> {
  if (!(await files.remove(callerOf(request), file))) throw noMapFile(file.kind, file.name)
}
