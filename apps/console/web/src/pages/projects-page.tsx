import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Empty, Loading, ProblemNotice } from '../components/basics.tsx'
import { Mark } from '../components/icon.tsx'
import { AccountMenu } from '../layout/account-menu.tsx'
import { formatDateTime } from '../lib/format.ts'
import { readProjects, type Project } from '../lib/project.ts'
import { Link } from '../lib/router.tsx'
import { useResource } from '../lib/use-resource.ts'

/** The projects of the user's organizations. */
export function ProjectsPage(): JSX.Element {
  const projects = useResource('projects', readProjects)
  useEffect(() => {
    document.title = 'Projects · Terrane'
  }, [])
  return (
    <div class="plain">
      <header class="plain-bar">
        <Link class="brand" href="/" aria-label="Terrane: all projects">
          <Mark />
          <span>Terrane</span>
        </Link>
        <AccountMenu />
      </header>
      <main class="page narrow-page">
        <h1>Projects</h1>
        {projects.problem && <ProblemNotice problem={projects.problem} onRetry={projects.reload} />}
        {!projects.value && !projects.problem && <Loading what="Loading projects" />}
        {projects.value?.length === 0 && (
          <div class="card">
            <Empty icon="layers" title="No project yet">
              An operator has to add you to an organization that has one.
            </Empty>
          </div>
        )}
        {projects.value && projects.value.length > 0 && (
          <div class="card scroll-x">
            <ProjectTable projects={projects.value} />
          </div>
        )}
      </main>
    </div>
  )
}

function ProjectTable({ projects }: { projects: readonly Project[] }): JSX.Element {
  return (
    <table class="table cards">
      <thead>
        <tr>
          <th>Project</th>
          <th>Reference</th>
          <th>Organization</th>
          <th>Since</th>
          <th>Services</th>
        </tr>
      </thead>
      <tbody>
        {projects.map((project) => (
          <tr key={project.ref}>
            <td>
              <Link href={`/p/${project.ref}/data`}>
                <strong>{project.name}</strong>
              </Link>
            </td>
            <td class="mono">{project.reference}</td>
            <td>{project.organization.name}</td>
            <td class="dim nums">{formatDateTime(project.created_at)}</td>
            <td>
              <Services services={project.services} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const LABELS = { worker: 'Jobs', data: 'Data', routing: 'Routing', functions: 'Functions' } as const

function Services({ services }: { services: Project['services'] }): JSX.Element {
  return (
    <span class="chips">
      {Object.entries(LABELS).map(([key, label]) => (
        <span key={key} class={`badge ${services[key as keyof typeof LABELS] ? 'success' : ''}`}>
          {label}
          {!services[key as keyof typeof LABELS] && ' off'}
        </span>
      ))}
    </span>
  )
}
