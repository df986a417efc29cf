import { RestError } from '../rest/errors.ts'

export const badSql = (detail: string, hint: string) =>
  new RestError(400, 'BAD_SQL', `The statement cannot be run: ${detail}`, { hint })

export const badBody = (field: string, wanted: string) =>
  new RestError(400, 'BAD_BODY', `${field} of the body is not ${wanted}`, { hint: `Send ${field} as ${wanted}.` })

export const serviceRoleOnly = () =>
  new RestError(403, 'SERVICE_ROLE_ONLY', 'Only the service role may run statements', {
    hint: 'Send the service-role key from a server.',
  })

export const noSuchQuery = (name: string) =>
  new RestError(404, 'NO_SUCH_QUERY', `There is no kept query ${name}`, {
    hint: 'POST /sql/v1/queries lists the kept queries.',
  })

export const statementsBusy = (most: number) =>
  new RestError(503, 'STATEMENTS_BUSY', `${most} statements are waiting already, which is the maximum`, {
    hint: 'Try again when one of them has ended.',
  })

export const statementTooSlow = (seconds: number) =>
  new RestError(408, 'STATEMENT_TOO_SLOW', `The statement ran for ${seconds} s, which is the maximum`, {
    hint: 'Filter by an indexed column or a box, or keep the rows as a table, which may take longer.',
  })
