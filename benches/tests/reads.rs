//! Assembly's rounds of reads do not grow with the number of references.

use benches::World;
use domain::ports::{Assembler as _, Assembly};

#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_reads_do_not_grow_with_the_number_of_references() {
    let world = World::new().await.unwrap();
    let mut cold = Vec::new();
    let mut warm = Vec::new();
    // A larger set refers to tools that the smaller did not, so its first assembly is a cold one.
    for count in [10, 100, 250] {
        let refs = world.refs(count);
        world.table.take();
        let set = world.assembler.assemble(Assembly::of(refs.clone()), &world.cx).await;
        cold.push(world.table.take());
        assert_eq!(set.entries().len(), count, "{:?}", set.problems());
        world.assembler.assemble(Assembly::of(refs), &world.cx).await;
        warm.push(world.table.take());
    }
    // Heads and bodies, of two sources.
    assert_eq!(cold, [4, 4, 4]);
    // Heads alone.
    assert_eq!(warm, [2, 2, 2]);
}
