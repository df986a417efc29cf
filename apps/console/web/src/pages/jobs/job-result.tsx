import type { JSX } from 'preact'
import { Code } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { projectPath } from '../../lib/api.ts'
import { formatBytes, formatJson, formatNumber, humanise } from '../../lib/format.ts'
import { jobSources, type Job, type JobSources } from '../../lib/jobs.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'

interface Table {
  readonly schema: string
  readonly name: string
  readonly rows: number
  readonly geometry_type?: string | null
}
interface StoredFile {
  readonly bucket: string
  readonly path: string
  readonly bytes: number
}

/** Results of a job, with links to the map, to an archive of a table, and to its files. */
export function JobResult({ project, job }: { project: Project; job: Job }): JSX.Element {
  const result = job.result ?? {}
  const tables = Array.isArray(result['tables']) ? (result['tables'] as Table[]) : []
  const artifacts = Array.isArray(result['artifacts']) ? (result['artifacts'] as StoredFile[]) : []
  const facts = Object.entries(result).filter(([, value]) => isFact(value))
  const rest = Object.fromEntries(Object.entries(result).filter(([, value]) => !isFact(value)))
  const table = typeof result['table'] === 'string' ? result['table'] : null
  const sources = jobSources(job)
  return (
    <div class="stack">
      {job.taskName.startsWith('create') && table && (
        <Link class="button primary" href={`/p/${project.ref}/map?embeddings=${table.split('.').at(-1)}`}>
          <Icon name="map" />
          Explore on the map
        </Link>
      )}
      {job.taskName === 'archiveToPmtiles' && typeof result['path'] === 'string' && (
        <Link class="button primary" href={`/p/${project.ref}/map?layer=${encodeURIComponent(result['path'])}`}>
          <Icon name="map" />
          Show on the map
        </Link>
      )}
      {job.taskName === 'ogr2ogrImport' && table && <ArchiveLink project={project} table={qualified(table)} />}
      {tables.length > 0 && <Tables project={project} tables={tables} />}
      <dl class="facts nums">
        {facts.map(([name, value]) => (
          <>
            <dt key={`t${name}`}>{humanise(name)}</dt>
            <dd key={`d${name}`}>{typeof value === 'number' ? formatNumber(value) : String(value)}</dd>
          </>
        ))}
      </dl>
      {sources && <Sources sources={sources} />}
      {artifacts.length > 0 && (
        <ul>
          {artifacts.map(({ bucket, path, bytes }) => (
            <li key={path}>
              <a
                href={projectPath(
                  project.ref,
                  `/storage/v1/object/${bucket}/${path.split('/').map(encodeURIComponent).join('/')}`,
                )}
                download={path.split('/').at(-1)}
              >
                {path}
              </a>{' '}
              <span class="faint">{formatBytes(bytes)}</span>
            </li>
          ))}
        </ul>
      )}
      {Object.keys(rest).length > 0 && (
        <details>
          <summary>The whole result</summary>
          <Code label="Result" text={formatJson(result)} />
        </details>
      )}
    </div>
  )
}

function Tables({ project, tables }: { project: Project; tables: readonly Table[] }): JSX.Element {
  return (
    <div class="scroll-x">
      <table class="table">
        <thead>
          <tr>
            <th>Table</th>
            <th>Geometry</th>
            <th class="num">Rows</th>
            <th>
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tables.map((table) => (
            <tr key={`${table.schema}.${table.name}`}>
              <td class="mono">
                {table.schema}.{table.name}
              </td>
              <td class="dim">{table.geometry_type ?? '–'}</td>
              <td class="num">{formatNumber(table.rows)}</td>
              <td class="num">
                {table.rows > 0 && (
                  <>
                    <Link class="button small" href={`/p/${project.ref}/map?table=${table.schema}.${table.name}`}>
                      <Icon name="map" size={14} />
                      Map
                    </Link>{' '}
                    <ArchiveLink project={project} table={table} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What became of each raster of a table of many. */
function Sources({ sources }: { sources: JobSources }): JSX.Element {
  const { said, failures, unnamed } = sources
  return (
    <div>
      <p>{said}</p>
      {failures.length > 0 && (
        <div class="scroll-x">
          <table class="table">
            <thead>
              <tr>
                <th>File that failed</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {failures.map(({ name, message }) => (
                <tr key={name}>
                  <td class="mono">{name}</td>
                  <td>{message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {unnamed > 0 && (
        <p class="small dim">{formatNumber(unnamed)} more are in geoembeddings.embedding_sources of the database.</p>
      )}
    </div>
  )
}

function ArchiveLink({ project, table }: { project: Project; table: { schema: string; name: string } }): JSX.Element {
  const query = new URLSearchParams({ table: table.name })
  if (table.schema !== 'public') query.set('schema', table.schema)
  return (
    <Link class="button small" href={`/p/${project.ref}/new/archiveToPmtiles?${query}`}>
      <Icon name="archive" size={14} />
      Archive
    </Link>
  )
}

function qualified(table: string): { schema: string; name: string } {
  const [schema = 'public', name] = table.split('.')
  return name === undefined ? { schema: 'public', name: schema } : { schema, name }
}

function isFact(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
