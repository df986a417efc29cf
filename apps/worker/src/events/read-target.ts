import { targetAmbiguous } from './errors.ts'
import type { SubmitContext } from '../jobs/task.ts'
import { redactUrl } from '../projects/redact.ts'
import { makeSecret } from '../webhooks/sign.ts'
import type { Target } from './caller.ts'
import { FUNCTIONS } from './declared.ts'

interface Given {
  readonly url?: string
  readonly function?: string
  readonly secret?: string
}

/** The target that a request names, and its form in a record. @throws TARGET_REQUIRED, URL_REFUSED */
export function readTarget(
  { checkUrl }: Pick<SubmitContext, 'checkUrl'>,
  { url, function: name, secret = makeSecret() }: Given,
): { readonly target: Target; readonly shownUrl: string } {
  if ((url === undefined) === (name === undefined)) throw targetAmbiguous()
  if (url === undefined) return { target: { function: name!, secret }, shownUrl: FUNCTIONS + name! }
  checkUrl(url, '/url')
  return { target: { url, secret }, shownUrl: redactUrl(url) }
}
