import { projectPath, request } from './api.ts'

/** Address and keys for other programs; null for a key that the console does not have. */
export interface Keys {
  readonly url: string | null
  readonly anon: string | null
  readonly service_role: string | null
  readonly services: string | null
}

/** The keys of a project. They are read by POST on a click, so that a link cannot load them. */
export function readKeys(ref: string): Promise<Keys> {
  return request('POST', projectPath(ref, '/keys'), {})
}
