// Mappings of osm2pgsql, OpenMapTiles and imposm as styles: the same rows as osm2pgsql's flex output, column by column and with
// equal geometries. OSM2PGSQL is the command, PEER_FOLDER a folder that both can see (`ours` or `ours=theirs`), DATABASE_URL
// the server. TERRANE_TEST_EXTRACTS is a folder of other extracts (`*.osm.pbf`) to take.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, quoteIdentifier, type Database } from '@terrane/database'
import { fileSource, importOsmArea, openOsm, topicTables } from '@terrane/osm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STYLE_CASES, type StyleCase } from './osm-style-cases.ts'
import { sharedFolder } from './shared.ts'

/* oxlint-disable node/no-process-env -- where the peer lies is a matter of the machine */
const command = process.env['OSM2PGSQL']?.split(' ')
const [folder = '', theirFolder = folder] = (process.env['PEER_FOLDER'] ?? '').split('=')
const server = process.env['DATABASE_URL']
const others = process.env['TERRANE_TEST_EXTRACTS']
/* oxlint-enable node/no-process-env */
const extracts = others ?? sharedFolder('data/osm')
const ENDING = '.osm.pbf'
const chosen =
  others === undefined
    ? ['liechtenstein-2021', 'malta-2016', 'monaco-2023']
    : readdirSync(others).flatMap((file) => (file.endsWith(ENDING) ? [file.slice(0, -ENDING.length)] : []))
const isHere = extracts !== null && command !== undefined && folder !== '' && server !== undefined
const absent = isHere ? '' : ' (SKIPPED: needs OSM2PGSQL, PEER_FOLDER, DATABASE_URL and the shared data folder)'
/**
 * Polygons whose border runs twice along the same stretch, all in Malta. The relations have a way twice: here they have it
 * once, osm2pgsql takes it twice, so that it cancels. The way runs back over 302 sides of its own: here and by PostGIS (even-odd
 * of its sides) it is two polygons of 2,101,690.22 m²; osm2pgsql differs by a sliver.
 */
const TWICE: Readonly<Record<string, readonly string[]>> = { polygons: ['R5605140', 'R5878508', 'W378256914'] }
const name = `terrane_styles_${process.pid}`

describe.skipIf(!isHere)(`styles beside osm2pgsql${absent}`, () => {
  let admin: Database
  let database: Database
  beforeAll(async () => {
    admin = await openDatabase({ url: server!, max: 1 })
    await admin.query(`create database ${quoteIdentifier(name)}`)
    database = await openDatabase({ url: urlOf(name) })
    await database.query('create extension postgis')
    mkdirSync(folder, { recursive: true })
  })
  afterAll(async () => {
    await database.close()
    await admin.query(`drop database ${quoteIdentifier(name)} with (force)`)
    await admin.close()
  })

  describe.for(chosen)('%s', (extract) => {
    test.for(STYLE_CASES)('$mapping', async ({ style, lua }) => {
      const file = `${extract}${ENDING}`
      copyFileSync(join(extracts!, file), join(folder, file))
      writeFileSync(join(folder, 'style.lua'), program(style, lua))
      const [program_ = '', ...before] = command!
      const there = ['-O', 'flex', '-S', join(theirFolder, 'style.lua'), join(theirFolder, file)]
      execFileSync(program_, [...before, '-d', urlOf(name), '--slim', '--drop', ...there], { stdio: 'pipe' })
      await importHere(database, join(extracts!, file), style)
      for (const { suffix } of topicTables(style)) {
        const found = await compare(database, suffix)
        process.stdout.write(`${extract} ${suffix}: ${found.ours} rows, osm2pgsql ${found.theirs}\n`)
        expect({ table: suffix, ...found }).toMatchObject({ only: [], different: [] })
        expect(found.ours).toBe(found.theirs)
      }
    })
  })
})

function urlOf(database: string): string {
  const url = new URL(server!)
  url.pathname = `/${database}`
  return url.href
}

/** The flex configuration: tables of an element, its columns as JSON and a geometry. */
function program(style: StyleCase['style'], lua: string): string {
  const names = topicTables(style).map(({ suffix }) => `'${suffix}'`)
  return `
local on, tables = {}, {}
for _, name in ipairs({ ${names.join(', ')} }) do
  tables[name] = osm2pgsql.define_table({
    name = 'theirs_' .. name,
    ids = { type = 'any', type_column = 'osm_type', id_column = 'osm_id' },
    columns = { { column = 'data', type = 'jsonb' }, { column = 'geom', type = 'geometry', projection = 4326 } },
  })
end
local function add(name, data, geom) if not geom:is_null() then tables[name]:insert({ data = data, geom = geom }) end end
${lua}
osm2pgsql.process_node, osm2pgsql.process_way, osm2pgsql.process_relation = on.node, on.way, on.relation
`
}

async function importHere(database: Database, path: string, style: StyleCase['style']): Promise<void> {
  const tables = topicTables(style)
  for (const { suffix } of tables) {
    await database.query(
      `drop table if exists ours_${suffix}; create table ours_${suffix} (osm_type text, osm_id int8, data jsonb, geom geometry)`,
    )
  }
  await importOsmArea(await openOsm(await fileSource(path)), null, style, {
    async write(table, rows) {
      const { suffix, columns } = tables[table]!
      const records = rows.map((row) => {
        const entries = columns.map(({ name: column, type }, i) => {
          const value = row[i]
          return [column, type === 'jsonb' && typeof value === 'string' ? JSON.parse(value) : value] as const
        })
        const data = entries.slice(3, -1).filter(([, value]) => value !== null)
        const geom = Buffer.from(row.at(-1) as Uint8Array).toString('hex')
        return { osm_type: row[1], osm_id: row[2], data: Object.fromEntries(data), geom }
      })
      await database.query(
        `insert into ours_${suffix} select osm_type, osm_id, data, geom::geometry
         from jsonb_to_recordset($1::jsonb) as r (osm_type text, osm_id int8, data jsonb, geom text)`,
        [JSON.stringify(records)],
      )
    },
  })
}

/**
 * Rows that one side has alone, and pairs that differ in a column or in geometry. A member is a row of its way there, of its
 * relation here.
 */
async function compare(database: Database, table: string) {
  const isMembers = table === 'members'
  const ours = isMembers
    ? `select 'W' as osm_type, (data ->> 'way')::int8 as osm_id, data - 'way' || jsonb_build_object('relation', osm_id) as data,
         data -> 'member' as member, osm_id as relation, geom from ours_members`
    : `select *, null::jsonb as member, null::int8 as relation from ours_${table}`
  const theirs = isMembers
    ? `select *, data -> 'member' as member, (data ->> 'relation')::int8 as relation from theirs_members`
    : `select *, null::jsonb as member, null::int8 as relation from theirs_${table}`
  const { rows } = await database.query<{ ours: number; theirs: number; only: string[]; different: string[] }>(
    `with pairs as (
       select coalesce(o.osm_type, t.osm_type::text) || coalesce(o.osm_id, t.osm_id) as id, o.osm_id as ours, t.osm_id as theirs,
         case when o.data <> t.data then concat('data ', o.data, ' ', t.data)
           when not (st_orderingequals(st_multi(o.geom), st_multi(t.geom)) or st_equals(o.geom, t.geom))
           then concat('geometry, valid: ', st_isvalid(o.geom), ' ', st_isvalid(t.geom)) end as difference
       from (${ours}) o full join (${theirs}) t on o.osm_type = t.osm_type and o.osm_id = t.osm_id
         and o.member is not distinct from t.member and o.relation is not distinct from t.relation
         where not coalesce(o.osm_type, t.osm_type::text) || coalesce(o.osm_id, t.osm_id) = any ($1))
     select count(ours)::int as ours, count(theirs)::int as theirs,
       coalesce((array_agg(id || case when ours is null then ' theirs' else ' ours' end)
         filter (where ours is null or theirs is null))[:20], '{}') as only,
       coalesce((array_agg(id || ' ' || difference) filter (where difference is not null))[:20], '{}') as different from pairs`,
    [TWICE[table] ?? []],
  )
  return rows[0]!
}
