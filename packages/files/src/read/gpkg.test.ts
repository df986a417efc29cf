import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { wkbOfGeoJson } from '@terrane/core'
import { expect, test } from 'vitest'
import { openGpkg } from './gpkg.ts'
import { refuseByText } from './open-sqlite.ts'

/** A geometry in the format's form (OGC 12-128r19, clause 2.1.3), with an envelope of `envelope` bytes. */
function blobOf(coordinates: readonly number[], envelope: 0 | 32): Buffer {
  const head = Buffer.alloc(8 + envelope)
  head.write('GP', 'latin1')
  head[3] = 1 | (envelope === 32 ? 2 : 0)
  head.writeInt32LE(4326, 4)
  return Buffer.concat([head, wkbOfGeoJson({ type: 'Point', coordinates })!])
}

test('what is in the column of geometries and is none is left out with a word, and types are those of the others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-gpkg-'))
  const path = join(folder, 'a.gpkg')
  const database = new DatabaseSync(path)
  database.exec(`create table gpkg_contents (table_name text, data_type text);
    create table gpkg_geometry_columns (table_name text, column_name text, srs_id int);
    create table gpkg_spatial_ref_sys (srs_id int, organization text, organization_coordsys_id int);
    insert into gpkg_spatial_ref_sys values (4326, 'EPSG', 4326);
    insert into gpkg_contents values ('places', 'features');
    insert into gpkg_geometry_columns values ('places', 'geom', 4326);
    create table places (fid integer primary key, geom blob, name text)`)
  const insert = database.prepare('insert into places (geom, name) values (?, ?)')
  const geometries = [blobOf([1, 2], 0), blobOf([1, 2, 3], 32), Buffer.from('SP'), 'POINT(1 2)', null]
  for (const [i, geometry] of geometries.entries()) insert.run(geometry, `place ${i + 1}`)
  database.close()

  const reader = openGpkg({ path })
  expect(reader.layers).toMatchObject([{ name: 'places', rows: 5, srid: 4326, geometryTypes: [1, 1001] }])
  const [batch] = [...(reader.read(0) as Iterable<{ geometryEnds: Uint32Array }>)]
  expect([...batch!.geometryEnds]).toEqual([21, 50, 50, 50, 50])
  expect(reader.takeWarnings()).toMatchObject([{ code: 'GEOMETRY_UNREADABLE', count: 2, examples: [3, 4] }])
  await rm(folder, { recursive: true })
})

test('a GeoPackage without features has tables of attributes, or says that it holds tiles', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-gpkg-'))
  const path = join(folder, 'a.gpkg')
  const database = new DatabaseSync(path)
  database.exec(`create table gpkg_contents (table_name text, data_type text);
    insert into gpkg_contents values ('pyramid', 'tiles');
    create table pyramid (id integer primary key, tile_data blob)`)
  expect(() => openGpkg({ path })).toThrow('the GeoPackage holds map tiles and no features')
  database.exec(`insert into gpkg_contents values ('list', 'attributes');
    create table list (fid integer primary key, name text); insert into list (name) values ('a')`)
  expect(openGpkg({ path }).layers).toMatchObject([{ name: 'list', rows: 1, hasGeometry: false }])
  database.close()
  await rm(folder, { recursive: true })
})

test.each([
  `select 1 as fid, file || '' as a from pragma_database_list`,
  `select 1 as fid, compile_options as a from pragma_compile_options`,
  `select 1 as fid, sqlite_compileoption_get(1) as a`,
])('a view that asks for what is of the machine is refused: %s', async (view) => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-gpkg-'))
  const path = join(folder, 'a.gpkg')
  const database = new DatabaseSync(path)
  database.exec(`create table gpkg_contents (table_name text, data_type text);
    insert into gpkg_contents values ('v', 'attributes'); create view v as ${view}`)
  database.close()
  const read = () => [...(openGpkg({ path }).read(0) as Iterable<unknown>)]
  const refusal = /^The file could not be read: a view asks for \w+, which is of this machine$/
  expect(read).toThrow(refusal)
  // As Node without an authorizer does.
  const opened = new DatabaseSync(path)
  expect(() => refuseByText(opened)).toThrow(refusal)
  opened.exec('drop view v; create view v as select sql as a from sqlite_schema')
  expect(() => refuseByText(opened)).not.toThrow()
  opened.close()
  await rm(folder, { recursive: true })
})
