import type { Principal } from '@terrane/auth'
import type { Database } from '@terrane/database'
import { runAs } from '../rest/execute.ts'
import { readingAs } from '../vector/tiles.ts'
import { badName } from './errors.ts'

type MapFileKind = 'style' | 'icon' | 'font'

/** A file by its kind and name; the folder of an icon is its sprite. */
export interface MapFileName {
  readonly kind: MapFileKind
  readonly folder: string
  readonly name: string
}

/** Facts about a file in the list. */
interface ListedFile {
  readonly folder: string
  readonly name: string
  readonly mediaType: string
  readonly pixelRatio: number
  readonly isPublic: boolean
  readonly sha256: string
  readonly updatedAt: Date
}

interface MapFile extends ListedFile {
  readonly content: Uint8Array
}

/** Content of a file that is written. */
interface NewContent {
  readonly content: Uint8Array
  readonly mediaType: string
  readonly pixelRatio?: number
  /** Null leaves it unchanged; a new file is then private. */
  readonly isPublic: boolean | null
}

const SCHEMA = 'geoembeddings'
const ABOUT = `folder, name, media_type as "mediaType", pixel_ratio as "pixelRatio", is_public as "isPublic", sha256, updated_at as "updatedAt"`
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}_. -]{0,99}$/u
const THIS = 'kind = $1 and folder = $2 and name = $3'

/** @throws BAD_NAME */
export function checkName(name: string): string {
  if (!NAME.test(name) || name.length > 100 || !name.isWellFormed()) throw badName(name)
  return name
}

/** Styles, icons and fonts in the database, read and written as the caller. */
export class MapFiles {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** @param folder of icons: their sprite; all when absent */
  async list(principal: Principal, kind: MapFileKind, folder: string | null = null): Promise<readonly ListedFile[]> {
    const { rows } = await runAs(this.#database, readingAs(principal, SCHEMA), (session) =>
      session.query<ListedFile>(
        `select ${ABOUT} from geoembeddings.map_files where kind = $1 and ($2::text is null or folder = $2)
         order by folder collate "C", name collate "C"`,
        [kind, folder],
      ),
    )
    return rows
  }

  async read(principal: Principal, { kind, folder, name }: MapFileName): Promise<MapFile | null> {
    const { rows } = await runAs(this.#database, readingAs(principal, SCHEMA), (session) =>
      session.query<MapFile>(`select ${ABOUT}, content from geoembeddings.map_files where ${THIS}`, [
        kind,
        folder,
        name,
      ]),
    )
    return rows[0] ?? null
  }

  /** Icons of a sprite with their contents. */
  async icons(principal: Principal, sprite: string): Promise<readonly MapFile[]> {
    const { rows } = await runAs(this.#database, readingAs(principal, SCHEMA), (session) =>
      session.query<MapFile>(
        `select ${ABOUT}, content from geoembeddings.map_files where kind = 'icon' and folder = $1 order by name collate "C"`,
        [sprite],
      ),
    )
    return rows
  }

  /** Writes a file; true when it is new. */
  async write(principal: Principal, { kind, folder, name }: MapFileName, given: NewContent): Promise<boolean> {
    const as = { ...readingAs(principal, SCHEMA), readOnly: false }
    const values = [kind, folder, name, given.content, given.mediaType, given.pixelRatio ?? 1, given.isPublic]
    const { rows } = await runAs(this.#database, as, (session) =>
      session.query<{ created: boolean }>(
        `insert into geoembeddings.map_files as f (kind, folder, name, content, media_type, pixel_ratio, is_public)
         values ($1, $2, $3, $4, $5, $6, coalesce($7, false))
         on conflict (kind, folder, name) do update set content = excluded.content, media_type = excluded.media_type,
           pixel_ratio = excluded.pixel_ratio, is_public = coalesce($7, f.is_public), updated_at = clock_timestamp()
         returning xmax = 0 as created`,
        values,
      ),
    )
    return rows[0]?.created === true
  }

  /** Deletes a file; false when it does not exist. */
  async remove(principal: Principal, { kind, folder, name }: MapFileName): Promise<boolean> {
    const as = { ...readingAs(principal, SCHEMA), readOnly: false }
    const { rows } = await runAs(this.#database, as, (session) =>
      session.query(`delete from geoembeddings.map_files where ${THIS} returning name`, [kind, folder, name]),
    )
    return rows.length > 0
  }
}
