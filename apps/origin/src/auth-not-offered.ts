import type { Http } from '@terrane/service'

/** Members of the 501 answer for `/auth/v1` that supabase-js reads: `code`, and `msg` for people. */
const NO_AUTH = {
  code: 'auth_not_offered',
  error_code: 'auth_not_offered',
  msg: 'This project has no sign-up and no sign-in of its own. Sign tokens for your users with the JWT secret of the project (HS256, claims sub, role "authenticated" and exp) and send them as Authorization: Bearer.',
} as const

/** Answers 501 for `/auth/v1`; otherwise `auth.signUp` of supabase-js reports "Failed to fetch". */
export function authNotOffered(app: Http): void {
  app.all('/auth/v1/*', { config: { quiet: true } }, (_request, reply) =>
    reply.code(501).header('x-error-code', NO_AUTH.code).send(NO_AUTH),
  )
}
