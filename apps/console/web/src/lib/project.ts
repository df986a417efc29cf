import { get, projectPath } from './api.ts'

/** A project as the console's API describes it. */
export interface Project {
  readonly id: string
  /** Name of the project in URLs: its reference, or its id if another project of the user has the same reference. */
  readonly ref: string
  /** Reference of the project for display. */
  readonly reference: string
  readonly name: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly created_at: string
  /** Which services are configured. */
  readonly services: Readonly<Record<'worker' | 'data' | 'routing' | 'functions', boolean>>
}

type Told = Omit<Project, 'reference'> & { readonly address: string }

/** The projects of the organizations that the user is a member of. */
export async function readProjects(signal: AbortSignal): Promise<Project[]> {
  const { data } = await get<{ data: Told[] }>('/api/projects', signal)
  return data.map(addressed)
}

/** The project of a URL. */
export async function readProject(address: string, signal: AbortSignal): Promise<Project> {
  return addressed(await get<Told>(projectPath(address), signal))
}

function addressed({ ref, address, ...project }: Told): Project {
  return { ...project, ref: address, reference: ref }
}
