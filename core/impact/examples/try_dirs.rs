use twincell_impact::*;
use twincell_semantic::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let store = Store::new();
    let open = |p: &str| Project::open(FolderFiles::of(std::path::Path::new(p)), &store);
    let found = impact(&open(&a[1]), &open(&a[2]), &Entries::default(), &ImpactOptions::default());
    println!("{}", serde_json::to_string(&found).unwrap());
}
