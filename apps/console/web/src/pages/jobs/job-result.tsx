import type { JSX } from 'preact'
import { Button, Code, ProblemNotice } from '../../components/basics.tsx'
import { Facts } from '../../components/facts.tsx'
import { Icon } from '../../components/icon.tsx'
import { linkTo } from '../../lib/files.ts'
import { formatBytes, formatFact, formatJson, formatNumber, humanise } from '../../lib/format.ts'
import { jobLinks, joinOf, type FileLink, type TableLink } from '../../lib/job-links.ts'
import { jobSources, type Job, type JobSources } from '../../lib/jobs.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useAction } from '../../lib/use-action.ts'
import { MakeBasemap } from './make-basemap.tsx'

/** Facts that the row of a single table has. */
const IN_TABLE: readonly string[] = ['table', 'rows', 'geometryType', 'geometry_type']

/** Results of a job, with links to the map, to an archive of a table, and to its files. */
export function JobResult({ project, job }: { project: Project; job: Job }): JSX.Element {
  const result = job.result ?? {}
  const { tables, embeddings, archive, files } = jobLinks(job)
  const isShown = embeddings === null && tables.length === 1 ? IN_TABLE : []
  const facts = Object.entries(result).filter(([name, value]) => isFact(value) && !isShown.includes(name))
  const rest = Object.fromEntries(Object.entries(result).filter(([, value]) => !isFact(value)))
  const sources = jobSources(job)
  return (
    <div class="stack">
      {embeddings !== null && (
        <Link class="button primary" href={`/p/${project.ref}/map?embeddings=${encodeURIComponent(embeddings)}`}>
          <Icon name="map" />
          Explore on the map
        </Link>
      )}
      {archive !== null && (
        <Link class="button primary" href={`/p/${project.ref}/map?layer=${encodeURIComponent(archive)}`}>
          <Icon name="map" />
          Show on the map
        </Link>
      )}
      <MakeBasemap projectRef={project.ref} tables={tables} />
      {tables.length > 0 && <Tables project={project} tables={tables} />}
      <Facts class="nums" rows={facts.map(([name, value]) => [humanise(name), formatFact(name, value)])} />
      {sources && <Sources sources={sources} />}
      {files.length > 0 && <Files project={project} files={files} />}
      {Object.keys(rest).length > 0 && (
        <details>
          <summary>The whole result</summary>
          <Code label="Result" text={formatJson(result)} />
        </details>
      )}
    </div>
  )
}

function Tables({ project, tables }: { project: Project; tables: readonly TableLink[] }): JSX.Element {
  return (
    <div class="scroll-x">
      <table class="table cards">
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
                <Link href={`/p/${project.ref}/data?table=${encodeURIComponent(`${table.schema}.${table.name}`)}`}>
                  {table.schema}.{table.name}
                </Link>
              </td>
              <td data-label="Geometry" class="dim">
                {table.geometryType ?? 'none'}
              </td>
              <td data-label="Rows" class="num">
                {formatNumber(table.rows)}
              </td>
              <td class="num">
                {table.rows > 0 && table.geometryType !== null && <TableLinks project={project} table={table} />}
                {table.rows > 0 && table.geometryType === null && (
                  <Link class="button small" href={joinOf(project.ref, table)}>
                    Join to a map
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Links of a table with rows and a geometry. */
function TableLinks({ project, table: { schema, name } }: { project: Project; table: TableLink }): JSX.Element {
  const archive = new URLSearchParams({ table: name, ...(schema !== 'public' && { schema }) })
  return (
    <span class="row end">
      <Link class="button small" href={`/p/${project.ref}/maps/new?table=${encodeURIComponent(`${schema}.${name}`)}`}>
        <Icon name="map" size={14} />
        Map
      </Link>
      <Link class="button small" href={`/p/${project.ref}/new/archiveToPmtiles?${archive}`}>
        <Icon name="archive" size={14} />
        Archive
      </Link>
    </span>
  )
}

/** Files in storage, each with a download. */
function Files({ project, files }: { project: Project; files: readonly FileLink[] }): JSX.Element {
  const { problem, run } = useAction()
  const download = ({ bucket, path }: FileLink) =>
    run(async () => location.assign(await linkTo(project.ref, bucket, path)))
  return (
    <>
      {problem && <ProblemNotice problem={problem} />}
      <ul class="plain">
        {files.map((file) => (
          <li key={`${file.bucket}/${file.path}`}>
            <Button kind="small" onClick={() => void download(file)}>
              <Icon name="down" size={14} />
              Download
            </Button>{' '}
            <span class="mono break">
              {file.bucket}/{file.path}
            </span>{' '}
            <span class="faint">{formatBytes(file.bytes)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Outcome for the rasters of a table of many rasters. */
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
        <p class="small dim">{formatNumber(unnamed)} more are in the table geoembeddings.embedding_sources.</p>
      )}
    </div>
  )
}

function isFact(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
