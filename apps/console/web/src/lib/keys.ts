import { projectPath, request } from './api.ts'

/** What reaches a project from elsewhere; null for what the console was not given. */
export interface Keys {
  readonly url: string | null
  readonly anon: string | null
  readonly service_role: string | null
  readonly services: string | null
}

/** The keys of a project. Asked for by a click: no address alone brings them into a page. */
export function readKeys(ref: string): Promise<Keys> {
  return request('POST', projectPath(ref, '/keys'), {})
}
