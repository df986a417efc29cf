import { quoteIdentifier, quoteLiteral, type Queryable } from '@terrane/database'
import type { Readers } from './run-input.ts'

/** Replaces the readers of a table: grants and policies as by share_table, and one for an owner. @param table as SQL */
export async function giveReaders(database: Queryable, table: string, { owner, isPublic }: Readers): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    "select polname as name from pg_policy where polrelid = $1::text::regclass and polcmd in ('r', '*')",
    [table],
  )
  const statements = [
    `alter table ${table} enable row level security`,
    `revoke select on ${table} from public, anon, authenticated`,
    ...rows.map(({ name }) => `drop policy ${quoteIdentifier(name)} on ${table}`),
  ]
  for (const role of isPublic ? ['anon', 'authenticated'] : []) {
    const policy = quoteIdentifier(`shared with ${role}`)
    statements.push(`create policy ${policy} on ${table} for select to ${role} using (true)`, `grant select on ${table} to ${role}`) // prettier-ignore
  }
  if (owner !== null) {
    const isOwner = `geoembeddings.caller_id() = ${quoteLiteral(owner)}::uuid`
    statements.push(`create policy own on ${table} for select to authenticated using (${isOwner})`, `grant select on ${table} to authenticated`) // prettier-ignore
  }
  await database.query(statements.join(';\n'))
}
