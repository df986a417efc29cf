/** Statements that make notes that their owner may read, and a vault that no caller may. */
export const NOTES = `
  create table notes (owner text, text text);
  insert into notes values ('Zoë', 'of Zoë'), ('Ada', 'of Ada');
  alter table notes enable row level security;
  create policy own on notes for select to authenticated
    using (owner = current_setting('request.jwt.claims', true)::json->>'name');
  revoke all on notes from anon;
  grant select on notes to authenticated;
  create table vault (secret text);
  insert into vault values ('the secret');
  revoke all on vault from anon, authenticated;
  grant all on vault, notes to service_role`

/** How a function opens a client: its imports, and code that makes `ask`, `named` and `end` for a `url`. */
export type ClientCode = readonly [imports: string, open: string]

/** A function that asks the database as its caller and as itself. */
export const askAsBoth = ([imports, open]: ClientCode): string => `${imports}
  const as = async (url) => {
    ${open}
    const [{ current_user: role }] = await ask('select current_user')
    const notes = await ask('select text from notes').then((rows) => rows.map((r) => r.text), (e) => e.code ?? e.cause.code)
    const n = await named()
    const many = await Promise.all(Array.from({ length: 6 }, (_, i) => ask('select ' + i + ' as i'))).then((all) => all.map((rows) => rows[0].i))
    await end()
    return [role, notes, n, many.join()]
  }
  export default async (req, ctx) => Response.json([await as(ctx.databaseUrl), await as(process.env.TERRANE_DB_URL)])`

/** Its answer to a call of the user Zoë. */
export const ASKED_AS_BOTH = [
  ['authenticated', ['of Zoë'], 2, '0,1,2,3,4,5'],
  ['anon', '42501', 2, '0,1,2,3,4,5'],
]
