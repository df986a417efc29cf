import type { JSX } from 'preact'
import { basemapPrefix, basemapTiles } from '@terrane/map-style/basemap'
import { Button, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import type { TableLink } from '../../lib/job-links.ts'
import { submitJob } from '../../lib/jobs.ts'
import { readLayers } from '../../lib/layers.ts'
import { navigate } from '../../lib/router.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Starts the basemap of an import with its tables; nothing for any other import. */
export function MakeBasemap(props: { projectRef: string; tables: readonly TableLink[] }): JSX.Element | null {
  const { projectRef, tables } = props
  const { busy, problem, run } = useAction()
  const names = tables.map(({ name }) => name)
  const prefix = basemapPrefix(names)
  const archives = useResource(prefix, (signal) => readLayers(projectRef, signal))
  if (prefix === null) return null
  const body = basemapTiles(prefix, prefix, names)
  const isThere = archives.value?.data.some(({ name }) => name === body.archiveName)
  const make = async () => {
    const job = await submitJob(projectRef, 'archiveToPmtiles', body)
    navigate(`/p/${projectRef}/jobs/${job.taskName}/${job.job_id}`)
  }
  return (
    <>
      {problem && <ProblemNotice problem={problem} />}
      <Button kind="primary" disabled={busy || archives.loading} onClick={() => void run(make)}>
        <Icon name="map" />
        {isThere ? `Replace the basemap ${prefix}` : 'Make the basemap'}
      </Button>
    </>
  )
}
